/** Stands in for the room provider's code, which the transports bring along and this client does not use. */
export default {}

/** Words for the transports that the runner offers and that a browser page cannot use itself. */
export function otherWays(offered: readonly string[]): string {
  const phone = offered.some((name) => name.startsWith('telephony'))
  const room = offered.includes('room')
  if (phone && room) return 'Your bot also answers the phone, and in rooms.'
  if (phone) return 'Your bot also answers the phone.'
  return room ? 'Your bot also answers in rooms.' : ''
}

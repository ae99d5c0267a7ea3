/** Where the wire tells what it left out or could not do. */
export type Log = (message: string, detail?: object) => void

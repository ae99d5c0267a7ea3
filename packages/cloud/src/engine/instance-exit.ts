import { constants } from 'node:os'

/** A status as shells give it: more than 128 stands for a signal. */
export function fromShell(code: number): { readonly code: number | null; readonly signal: string | null } {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
  return signal === undefined ? { code, signal: null } : { code: null, signal }
}

/** Whether a promise settles within so long. */
export async function settles(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  const done = promise.then(
    () => true,
    () => true,
  )
  return await Promise.race([done, late]).finally(() => clearTimeout(timer))
}

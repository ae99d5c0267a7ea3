import { RunnerError } from './errors.ts'

/** Something that is opened over some time and can be closed at any of it. */
interface Opening {
  open(): Promise<void>
  close(options: { readonly deadlineMs: number }): Promise<void>
}

/** Opens it, unless it is not wanted any more before that is done; then it is closed again. */
export async function openWhileWanted(thing: Opening, signal: AbortSignal | undefined): Promise<void> {
  const opening = thing.open()
  let forget = () => {}
  const unwanted = new Promise<never>((_, reject) => {
    const abort = () => reject(new RunnerError('start_failed', 'The runner was stopped while it started.'))
    signal?.addEventListener('abort', abort)
    forget = () => signal?.removeEventListener('abort', abort)
    if (signal?.aborted) abort()
  })
  try {
    await Promise.race([opening, unwanted])
  } catch (error) {
    await thing.close({ deadlineMs: 0 })
    // What was still on its way finds everything closed, and ends by itself.
    await opening.catch(() => {})
    throw error
  } finally {
    forget()
  }
}

import { execFile } from 'node:child_process'

/** What a short program answered. */
export interface Answer {
  /** `undefined` if it could not be started or did not end in time. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

const MAX_BYTES = 64 * 1024 * 1024

/** Runs a short program of this machine, for its answer. */
export async function askProgram(
  argv: readonly string[],
  options: { readonly timeoutMs?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const [file = '', ...args] = argv
  return await new Promise((resolve) => {
    const settings = {
      timeout: options.timeoutMs ?? 10_000,
      maxBuffer: MAX_BYTES,
      env: { ...process.env, ...options.env },
    }
    execFile(file, args, settings, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined
      resolve({ status, stdout, stderr: stderr || (error?.message ?? '') })
    })
  })
}

/** The last line of what a program complained about. */
export function complaint({ stderr, stdout, status }: Answer): string {
  return (stderr.trim() || stdout.trim() || `status ${status}`).split('\n').at(-1) ?? ''
}

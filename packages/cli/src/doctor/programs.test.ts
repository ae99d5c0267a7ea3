import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { freshFolder, putProgram } from '../testing/doctor-project.ts'
import { isThere, writtenIn } from '../testing/processes.ts'
import { Programs } from './programs.ts'

const LIMIT = { timeout: 20_000 }
const never = new AbortController().signal
const env = { PATH: process.env.PATH }

/** A wrapper whose real program goes on for long; both write down who they are. */
async function slowProgram(folder: string): Promise<string> {
  return putProgram(folder, 'slow', 'sleep 60 &\necho $! $$ > pids\nwait')
}

describe('a program', () => {
  it('gives its exit code and what it wrote', async () => {
    const folder = await freshFolder()
    const file = await putProgram(folder, 'talks', 'echo "in $(pwd) $1"; echo no >&2; exit 3')
    const answer = await new Programs({ env, signal: never }).run(file, ['x y'], folder)
    expect(answer).toEqual({ kind: 'ended', code: 3, stdout: `in ${folder} x y\n`, stderr: 'no\n' })
  })

  it('is looked for on the given path alone', async () => {
    const folder = await freshFolder()
    const programs = new Programs({ env: { PATH: folder }, signal: never })
    expect(await programs.run('node', [], folder)).toEqual({ kind: 'absent' })
  })

  it('that cannot be started is told of', async () => {
    const folder = await freshFolder()
    const answer = await new Programs({ env, signal: never }).run(folder, [], folder)
    expect(answer).toMatchObject({ kind: 'unusable', reason: expect.stringContaining('EACCES') })
    const spawn = () => {
      throw new Error('no more processes')
    }
    const refused = await new Programs({ env, signal: never, spawn }).run('x', [], folder)
    expect(refused).toEqual({ kind: 'unusable', reason: 'no more processes' })
  })

  it('is ended with all that it started when its time is up', async () => {
    const folder = await freshFolder()
    const programs = new Programs({ env, signal: never, limitMs: 3000 })
    const answer = programs.run(await slowProgram(folder), [], folder)
    const pids = await writtenIn(join(folder, 'pids'))
    expect(await answer).toEqual({ kind: 'late', seconds: 3 })
    await vi.waitUntil(() => !pids.some(isThere), LIMIT)
  })

  it('is ended with all that it started when the user has had enough', async () => {
    const folder = await freshFolder()
    const abort = new AbortController()
    const programs = new Programs({ env, signal: abort.signal })
    const answer = programs.run(await slowProgram(folder), [], folder)
    const pids = await writtenIn(join(folder, 'pids'))
    abort.abort()
    expect(await answer).toMatchObject({ kind: 'late' })
    await vi.waitUntil(() => !pids.some(isThere), LIMIT)
    expect(await programs.run('echo', [], folder)).toMatchObject({ kind: 'late' })
  })
})

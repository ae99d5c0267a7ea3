import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  botcliVersion,
  type Configuration,
  compareProject,
  type FlagValues,
  openFolder,
  planProject,
  resolve,
  write,
} from '@botcli/scaffold'
import { onTestFinished } from 'vitest'
import { Subject, type SubjectOptions } from '../doctor/subject.ts'

/** A plain web bot. */
export const WEB_BOT = {
  transports: ['webrtc'],
  mode: 'cascade',
  stt: 'deepgram_stt',
  llm: 'openai_llm',
  tts: 'cartesia_tts',
} as const satisfies FlagValues

/** A fresh folder that goes away with the test. */
export async function freshFolder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'botcli-doctor-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A project on disk, as `botcli init` writes it, but for what is in the wheel. */
export async function makeProject(
  flags: FlagValues = WEB_BOT,
): Promise<{ folder: string; configuration: Configuration }> {
  const path = await freshFolder()
  const resolution = resolve({ flags, directoryName: 'my-bot' })
  if (!resolution.ok) throw new Error(JSON.stringify(resolution.problems))
  const { configuration } = resolution
  const files = planProject({ configuration, wheel: Buffer.from('wheel') })
  const folder = await openFolder(path)
  const made = { version: botcliVersion(), configuration }
  await write(await compareProject(folder, files, made, { force: false, replaceGuides: new Set() }))
  return { folder: path, configuration }
}

/** Writes a file and the folders that it needs. */
export async function put(folder: string, path: string, text: string): Promise<string> {
  const place = join(folder, path)
  await mkdir(dirname(place), { recursive: true })
  await writeFile(place, text)
  return place
}

/** A program of our own. */
export async function putProgram(folder: string, path: string, line: string): Promise<string> {
  const place = await put(folder, path, `#!/bin/sh\n${line}\n`)
  await chmod(place, 0o755)
  return place
}

/** A Python that answers as a real one does; packages that are left out are missing. */
export async function putPython(
  folder: string,
  path: string,
  version: string,
  packages: Readonly<Record<string, string>> = {},
): Promise<string> {
  const said = (name: string) =>
    packages[name] === undefined
      ? { version: null, problem: `ModuleNotFoundError: No module named '${name}'`, missing: true }
      : { version: packages[name], problem: null, missing: false }
  const answer = JSON.stringify({ version, packages: { pipecat: said('pipecat'), botcli: said('botcli') } })
  return putProgram(folder, path, `cat <<'END'\nsomething else\n${answer}\nEND`)
}

/** A project as checks see it, on a machine with no programs but the given ones. */
export function subjectOf(directory: string, options: Partial<SubjectOptions> = {}): Promise<Subject> {
  return Subject.open({
    directory,
    cwd: directory,
    port: 7860,
    env: { PATH: '/nowhere' },
    signal: new AbortController().signal,
    ...options,
  })
}

/** Replaces a text in a file, in which it must be. */
export async function replaceIn(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
  await writeFile(file, text.replaceAll(from, to))
}

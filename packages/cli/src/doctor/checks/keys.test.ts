import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { envVariables, type FlagValues } from '@botcli/scaffold'
import { describe, expect, it } from 'vitest'
import { freshFolder, makeProject, put, subjectOf, WEB_BOT } from '../../testing/doctor-project.ts'
import { checkKeys, checkSecrecy } from './keys.ts'

const run = promisify(execFile)
const FILLED = 'DEEPGRAM_API_KEY=a\nOPENAI_API_KEY="b"\nCARTESIA_API_KEY=c\n'

describe('keys', () => {
  it('are in a file that is to be copied first', async () => {
    const { folder } = await makeProject()
    expect(await checkKeys(await subjectOf(folder))).toEqual({
      status: 'fault',
      message:
        'server/.env is not there, and DEEPGRAM_API_KEY, OPENAI_API_KEY and CARTESIA_API_KEY are not set',
      fix: 'cp server/.env.example server/.env',
    })
  })

  it('that are blank are not set', async () => {
    const { folder } = await makeProject()
    await put(folder, 'server/.env', 'DEEPGRAM_API_KEY=\nOPENAI_API_KEY="  "\nCARTESIA_API_KEY=c\n')
    const found = await checkKeys(await subjectOf(folder, { env: { OPENAI_API_KEY: ' ' } }))
    expect(found).toMatchObject({
      status: 'fault',
      message: 'DEEPGRAM_API_KEY and OPENAI_API_KEY are not set',
      fix: expect.stringMatching(
        /^In server\/\.env, set DEEPGRAM_API_KEY \(.*https:.*\) and OPENAI_API_KEY \(/,
      ),
    })
  })

  it('come from the file or from the environment', async () => {
    const { folder } = await makeProject()
    const env = { DEEPGRAM_API_KEY: 'a', OPENAI_API_KEY: '', CARTESIA_API_KEY: 'c' }
    await put(folder, 'server/.env', '\uFEFFOPENAI_API_KEY=b\n')
    expect(await checkKeys(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
    await rm(join(folder, 'server/.env'))
    expect(await checkKeys(await subjectOf(folder, { env: { ...env, OPENAI_API_KEY: 'b' } }))).toMatchObject({
      status: 'ok',
    })
  })

  it.each<FlagValues>([
    WEB_BOT,
    { ...WEB_BOT, transports: ['room'], stt: 'google_stt', llm: 'azure_llm', tts: 'aws_polly_tts' },
    { transports: ['webrtc'], mode: 'realtime', realtime: 'aws_nova_realtime' },
    { ...WEB_BOT, transports: ['telephony_a_room_sip'], sipMode: 'dial-in' },
    { ...WEB_BOT, transports: ['room_pstn'], pstnMode: 'dial-out' },
    { ...WEB_BOT, stt: 'whisper_stt', llm: 'ollama_llm', tts: 'piper_tts' },
  ])('are those that the configuration requires: %j', async (flags) => {
    const { folder, configuration } = await makeProject(flags)
    const required = envVariables(configuration).flatMap((one) => (one.required ? [one.name] : []))
    const env = Object.fromEntries(required.map((name) => [name, 'x']))
    expect(await checkKeys(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
    for (const name of required) {
      const found = await checkKeys(await subjectOf(folder, { env: { ...env, [name]: '' } }))
      expect(found).toMatchObject({ status: 'fault', message: expect.stringContaining(`${name} is not set`) })
    }
  })

  it('are those of the project as it is now', async () => {
    const { folder } = await makeProject()
    const settings = await readFile(join(folder, 'server/settings.py'), 'utf8')
    await put(folder, 'server/settings.py', settings.replace('"DEEPGRAM_API_KEY"', '"MY_OWN_KEY"'))
    await put(folder, 'server/.env', FILLED)
    expect(await checkKeys(await subjectOf(folder))).toMatchObject({ message: 'MY_OWN_KEY is not set' })
    await rm(join(folder, 'server/settings.py'))
    expect(await checkKeys(await subjectOf(folder))).toMatchObject({ status: 'ok' })
    await put(folder, 'server/.env', '')
    expect(await checkKeys(await subjectOf(folder))).toMatchObject({ status: 'fault' })
  })

  it('of a project that nobody knows are guessed from its example', async () => {
    const folder = await freshFolder()
    await put(folder, 'bot.ts', 'export async function bot() {}')
    expect(await checkKeys(await subjectOf(folder))).toBeUndefined()
    await put(folder, '.env.example', 'SOME_KEY=your-key\n')
    expect(await checkKeys(await subjectOf(folder))).toEqual({
      status: 'warning',
      message: '.env is not there, and SOME_KEY is not set',
      fix: 'cp .env.example .env',
    })
  })

  it('that the runner would refuse are named, but not what is in them', async () => {
    const { folder } = await makeProject()
    await put(folder, 'server/.env', `${FILLED}ROOM_API_URL=no-address\nTELEPHONY_B_PUBLIC_KEY=no-key\n`)
    const found = await checkKeys(await subjectOf(folder))
    expect(found).toMatchObject({
      status: 'fault',
      message: expect.stringMatching(
        /^TELEPHONY_B_PUBLIC_KEY and ROOM_API_URL|^ROOM_API_URL and TELEPHONY_B_PUBLIC_KEY/,
      ),
    })
    expect(JSON.stringify(found)).not.toMatch(/no-address|no-key/)
  })
})

describe('the env file', () => {
  const env = { PATH: process.env.PATH, HOME: '/nowhere' }

  async function repository(): Promise<{ folder: string; git: (...args: string[]) => Promise<unknown> }> {
    const { folder } = await makeProject()
    await put(folder, 'server/.env', FILLED)
    const git = (...args: string[]) => run('git', args, { cwd: folder })
    await git('init', '-q')
    return { folder, git }
  }

  it('is nobody’s business without a repository', async () => {
    const { folder } = await makeProject()
    expect(await checkSecrecy(await subjectOf(folder, { env }))).toBeUndefined()
  })

  it('is ignored by git, and is told of when it is not', async () => {
    const { folder } = await repository()
    expect(await checkSecrecy(await subjectOf(folder, { env }))).toEqual({
      status: 'ok',
      message: 'git ignores server/.env',
    })
    await rm(join(folder, '.gitignore'))
    expect(await checkSecrecy(await subjectOf(folder, { env }))).toMatchObject({ status: 'warning' })
    expect(await checkSecrecy(await subjectOf(folder))).toBeUndefined()
  })

  it.each([undefined, '', 'node_modules', 'node_modules\n'])(
    'is ignored after the command that is told, and so is what was ignored before: %j',
    async (rules) => {
      const { folder, git } = await repository()
      await rm(join(folder, '.gitignore'))
      if (rules !== undefined) await put(folder, '.gitignore', rules)
      const found = await checkSecrecy(await subjectOf(folder, { env }))
      await run('sh', ['-c', found?.fix ?? ''], { cwd: folder })
      expect(await checkSecrecy(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
      if (rules) await git('check-ignore', '-q', 'node_modules')
    },
  )

  it('is at fault when it is in the repository, ignored or not', async () => {
    const { folder, git } = await repository()
    await git('add', '--force', 'server/.env')
    expect(await checkSecrecy(await subjectOf(folder, { env }))).toMatchObject({
      status: 'fault',
      message: expect.stringContaining('server/.env is in the repository'),
      fix: 'git rm --cached server/.env',
    })
    await git('rm', '-q', '--cached', 'server/.env')
    expect(await checkSecrecy(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
  })

  it('cannot be judged in a repository that git does not read', async () => {
    const { folder } = await makeProject()
    await put(folder, '.git', 'gitdir: /nowhere\n')
    expect(await checkSecrecy(await subjectOf(folder, { env }))).toMatchObject({ status: 'warning' })
  })
})

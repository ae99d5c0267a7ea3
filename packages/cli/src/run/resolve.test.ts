import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULTS, findBot, RunnerError } from '@botcli/runner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { RUN_OPTIONS } from './options.ts'
import { resolveConfig } from './resolve.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-resolve-'))
  await writeFile(join(folder, 'bot.ts'), 'export async function bot() {}\n')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const resolve = (argv: readonly string[], env: Record<string, string> = {}, pageDir?: string) =>
  resolveConfig(parseOptions(argv, RUN_OPTIONS), { env, cwd: folder, pageDir, findBot })

async function problemsOf(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<readonly string[]> {
  const error = await resolve(argv, env).catch((thrown: unknown) => thrown)
  if (error instanceof UsageError) return error.problems
  throw new Error(`expected problems, got ${JSON.stringify(error)}`)
}

const WHATSAPP = {
  WHATSAPP_APP_SECRET: 'a',
  WHATSAPP_PHONE_NUMBER_ID: 'b',
  WHATSAPP_TOKEN: 'c',
  WHATSAPP_WEBHOOK_VERIFICATION_TOKEN: 'd',
}

it('has the defaults of the runner', async () => {
  expect(await resolve([])).toEqual({
    ...DEFAULTS,
    botPath: join(folder, 'bot.ts'),
    botFolder: folder,
    env: { ENV: 'local' },
  })
})

describe('each option takes effect', () => {
  it.each([
    [['--host', '127.0.0.1'], { host: '127.0.0.1' }],
    [['--port', '0'], { port: 0 }],
    [['-t', 'webrtc'], { transport: 'webrtc' }],
    [['-t', 'room'], { transport: 'room' }],
    [['-t', 'websocket'], { transport: 'websocket' }],
    [['-t', 'telephony_d'], { transport: 'telephony_d' }],
    [
      ['-t', 'telephony_a', '-x', 'https://a.example.com'],
      { transport: 'telephony_a', proxy: 'a.example.com' },
    ],
    [
      ['-t', 'telephony_b', '--proxy', 'a.example.com/'],
      { transport: 'telephony_b', proxy: 'a.example.com' },
    ],
    [['-t', 'telephony_c', '-x', 'a.example.com'], { transport: 'telephony_c' }],
    [
      ['--allowed-origins', 'https://a.example,https://b.example', '--allowed-origins', 'https://a.example'],
      { allowedOrigins: ['https://a.example', 'https://b.example'] },
    ],
    [['--esp32', '--host', '192.168.1.5'], { esp32: true, host: '192.168.1.5' }],
    [['--esp32', '--host', '192.168.1.5', '-t', 'webrtc'], { esp32: true }],
    [['-v'], { verbose: true, evals: false }],
    [['--evals'], { evals: true }],
    [['--max-sessions', '3'], { maxSessions: 3 }],
    [['--max-session-duration', '10m'], { maxSessionDurationMs: 600_000 }],
    [['--max-memory', '512m'], { maxMemoryBytes: 512 * 1024 ** 2 }],
    [['--warm', '0'], { warm: 0 }],
    [['--isolation', 'inline'], { isolation: 'inline', warm: 0 }],
    [['--ws-auth', 'token'], { wsAuth: 'token' }],
    [['--ws-auth', 'token', '-t', 'websocket'], { wsAuth: 'token', transport: 'websocket' }],
    [['--ws-auth', 'none', '-t', 'webrtc'], { wsAuth: 'none', transport: 'webrtc' }],
    [['--ice-port', '50000-50003'], { icePorts: { first: 50000, last: 50003 } }],
    [['--announced-address', '203.0.113.9'], { announcedAddress: '203.0.113.9' }],
  ])('%j', async (argv, expected) => {
    expect(await resolve(argv)).toMatchObject(expected)
  })

  it('--dialin, without -t room', async () => {
    const config = await resolve(['--dialin'], { ROOM_API_KEY: 'key' })
    expect(config).toMatchObject({ dialin: true, room: { apiKey: 'key' } })
    expect(config).not.toHaveProperty('transport')
  })

  it.each([[['-d']], [['--direct', '-t', 'room']]])('%j', async (argv) => {
    const config = await resolve(argv, { ROOM_API_KEY: 'key' })
    expect(config).toMatchObject({ direct: true, transport: 'room', room: { apiKey: 'key' } })
  })

  it('--whatsapp, and nothing of it without', async () => {
    const whatsapp = { appSecret: 'a', phoneNumberId: 'b', token: 'c', verificationToken: 'd' }
    expect(await resolve(['--whatsapp'], WHATSAPP)).toMatchObject({ whatsapp })
    expect(await resolve([], WHATSAPP)).not.toHaveProperty('whatsapp')
  })

  it('the variables with which senders are checked, and where APIs are', async () => {
    const PUBLIC_KEY = Buffer.alloc(32, 7).toString('base64')
    const config = await resolve([], {
      ROOM_DIALIN_SECRET: 'c2VjcmV0',
      TELEPHONY_A_AUTH_TOKEN: 'token',
      TELEPHONY_B_PUBLIC_KEY: PUBLIC_KEY,
      TELEPHONY_C_AUTH_TOKEN: 'other',
      TELEPHONY_A_API_URL: 'https://api.example.com',
    })
    expect(config.room.dialinSecret).toBe('c2VjcmV0')
    expect(config.telephony).toEqual({
      webhookSecrets: { a: { authToken: 'token' }, b: { publicKey: PUBLIC_KEY }, c: { authToken: 'other' } },
      apiUrls: { a: 'https://api.example.com' },
    })
  })

  it('the folder of the page', async () => {
    expect(await resolve([], {}, 'somewhere')).toMatchObject({ pageDir: 'somewhere' })
  })
})

it.each([
  [{}, 'botcli'],
  [{ npm_command: 'exec' }, 'npx botcli'],
  [{ BOTCLI_COMMAND: 'npx botcli' }, 'npx botcli'],
])('knows what its user has to type: %o', async (env, command) => {
  expect((await resolve([], env)).command).toBe(command)
})

describe('variables', () => {
  it('reach the configuration and the bot', async () => {
    const env = {
      ROOM_API_KEY: 'k',
      ROOM_SAMPLE_ROOM_URL: 'https://rooms.example/one',
      ROOM_API_URL: 'https://api.rooms.example/v1',
      TELEPHONY_A_ACCOUNT_ID: 'a1',
      TELEPHONY_A_AUTH_TOKEN: 'a2',
      TELEPHONY_B_API_KEY: 'b1',
      TELEPHONY_C_AUTH_ID: 'c1',
      TELEPHONY_C_AUTH_TOKEN: 'c2',
      BOT_ALLOWED_ORIGINS: 'https://a.example, https://b.example',
      MINE: 'x',
    }
    expect(await resolve([], env)).toMatchObject({
      room: {
        apiKey: 'k',
        sampleRoomUrl: 'https://rooms.example/one',
        apiUrl: 'https://api.rooms.example/v1',
      },
      telephony: {
        a: { accountId: 'a1', authToken: 'a2' },
        b: { apiKey: 'b1' },
        c: { authId: 'c1', authToken: 'c2' },
      },
      allowedOrigins: ['https://a.example', 'https://b.example'],
      env,
    })
  })

  it('come from the .env beside the bot too, and the real ones win', async () => {
    await mkdir(join(folder, 'server'))
    await rm(join(folder, 'bot.ts'))
    await writeFile(join(folder, 'server/bot.ts'), 'export async function bot() {}\n')
    await writeFile(
      join(folder, 'server/.env'),
      '\uFEFFROOM_API_KEY="from file"\nMINE=file # note\nOTHER=file\n',
    )
    await writeFile(join(folder, '.env'), 'NOT_READ=1\n')
    const config = await resolve([], { ROOM_API_KEY: 'real', MINE: 'real' })
    expect(config.env).toEqual({ ROOM_API_KEY: 'real', MINE: 'real', OTHER: 'file', ENV: 'local' })
    expect(config.room.apiKey).toBe('real')
  })

  it('are replaced by the flag, also by an empty one', async () => {
    const env = { BOT_ALLOWED_ORIGINS: 'https://a.example' }
    expect((await resolve(['--allowed-origins', 'https://b.example'], env)).allowedOrigins).toEqual([
      'https://b.example',
    ])
    expect((await resolve(['--allowed-origins', ''], env)).allowedOrigins).toEqual([])
  })

  it('count as not set when they are empty', async () => {
    const config = await resolve([], {
      ROOM_API_KEY: '',
      TELEPHONY_A_ACCOUNT_ID: 'x',
      BOT_ALLOWED_ORIGINS: '',
    })
    expect(config).toMatchObject({ room: {}, telephony: {}, allowedOrigins: [] })
  })

  it.each([
    [{ BOT_ALLOWED_ORIGINS: '*' }, /^BOT_ALLOWED_ORIGINS must be origins/],
    [{ BOT_ALLOWED_ORIGINS: ',' }, /^BOT_ALLOWED_ORIGINS must be origins/],
    [{ ROOM_API_URL: 'api.example.com' }, /^ROOM_API_URL must be an address/],
    [{ ROOM_SAMPLE_ROOM_URL: 'ftp://x' }, /^ROOM_SAMPLE_ROOM_URL must be an address/],
    [{ ROOM_API_KEY: 'two words' }, /^ROOM_API_KEY must have no spaces/],
    [{ TELEPHONY_B_API_KEY: 'x\ny' }, /^TELEPHONY_B_API_KEY must have no spaces/],
  ])('are refused when they are wrong: %j', async (env, problem) => {
    expect(await problemsOf([], env)).toEqual([expect.stringMatching(problem)])
  })

  it('are never repeated in a message when they are secret', async () => {
    expect((await problemsOf([], { ROOM_API_KEY: 'hunter two' })).join()).not.toContain('hunter')
  })

  it('must be readable', async () => {
    await mkdir(join(folder, '.env'))
    expect(await problemsOf([])).toEqual([expect.stringContaining('.env cannot be read')])
  })
})

describe('what does not go together', () => {
  it.each([
    [['-t', 'telephony_a'], /telephony_a needs -x\/--proxy/],
    [['-t', 'telephony_b'], /telephony_b needs -x\/--proxy/],
    [['-t', 'telephony_c'], /telephony_c needs -x\/--proxy/],
    [['-d', '-t', 'webrtc'], /-d\/--direct is for rooms/],
    [['--esp32'], /--esp32 needs --host with the IP address/],
    [['--esp32', '--host', '0.0.0.0'], /--esp32 needs --host/],
    [['--esp32', '--host', '::'], /--esp32 needs --host/],
    [['--esp32', '--host', 'box.local'], /--esp32 needs --host/],
    [['--esp32', '--host', '10.0.0.2', '-t', 'websocket'], /--esp32 is for webrtc/],
    [['--ice-port', '5000', '-t', 'room'], /--ice-port is for webrtc/],
    [['--announced-address', '10.0.0.2', '-d'], /--announced-address is for webrtc/],
    [['--ws-auth', 'token', '-t', 'webrtc'], /--ws-auth token is for websocket .* webrtc alone/],
    [['--ws-auth', 'token', '-t', 'telephony_d'], /--ws-auth token is for websocket/],
    [['--ws-auth', 'token', '-d'], /--ws-auth token is for websocket .* room alone/],
    [['--isolation', 'inline', '--warm', '3'], /--warm is for bots in processes/],
    [['--dialin'], /--dialin needs ROOM_API_KEY/],
    [['-d'], /-d\/--direct needs ROOM_API_KEY/],
    [['-d', '--port', '1234'], /--port is for the server, and -d\/--direct has none/],
    [['-d', '--dialin'], /--dialin is for the server/],
    [['--whatsapp'], /--whatsapp needs WHATSAPP_APP_SECRET, .*, WHATSAPP_WEBHOOK_VERIFICATION_TOKEN/],
    [['one', 'two'], /Only one BOT/],
    [[''], /BOT must be a file or a folder/],
    [['-t', 'daily'], /must be one of webrtc, room, .*, not "daily"/],
    [['--ws-auth', 'off'], /--ws-auth must be one of none, token/],
    [['--isolation', 'none'], /--isolation must be one of process, inline/],
    [['--max-sessions', '0'], /--max-sessions must be a whole number from 1/],
    [['--max-session-duration', 'off'], /--max-session-duration must be from 1s to 24h/],
    [['--warm', '-1'], /--warm must be a whole number from 0 to 100/],
    [['--host', '--esp32'], /--host needs a value/],
  ])('%j', async (argv, problem) => {
    expect(await problemsOf(argv)).toEqual(expect.arrayContaining([expect.stringMatching(problem)]))
  })

  it('is told all at once, with the variables, and also when there is no bot', async () => {
    const argv = ['--port', 'x', '-t', 'telephony_a', '--dialin']
    expect(await problemsOf(argv, { ROOM_API_URL: 'x' })).toHaveLength(4)
    await rm(join(folder, 'bot.ts'))
    expect(await problemsOf(argv)).toHaveLength(2)
  })
})

it('a missing bot is a failure of its own', async () => {
  await expect(resolve(['nowhere'])).rejects.toBeInstanceOf(RunnerError)
})

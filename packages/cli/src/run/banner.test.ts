import { TRANSPORT_IDS } from '@botcli/protocol'
import { DEFAULTS, type RunnerConfig } from '@botcli/runner'
import { describe, expect, it } from 'vitest'
import { type BannerInput, formatBanner, makeBanner } from './banner.ts'

const WHATSAPP = { appSecret: 'a', phoneNumberId: 'b', token: 'c', verificationToken: 'd' }

const CONFIG: RunnerConfig = {
  ...DEFAULTS,
  botPath: 'bot.ts',
  botFolder: '.',
  env: {},
  pageDir: 'page',
}

function input(config: Partial<RunnerConfig> = {}, url = 'http://localhost:7860'): BannerInput {
  return { config: { ...CONFIG, ...config }, url, transports: TRANSPORT_IDS, version: '1.2.3', bot: 'bot.ts' }
}

const attempts = (banner: ReturnType<typeof makeBanner>) =>
  Object.fromEntries(banner.transports.map((line) => [line.transport, line.attempt]))

it('says what to open, how to try each transport and what it needs', () => {
  const banner = makeBanner(input())
  expect(banner.page).toBe('http://localhost:7860/client/')
  expect(banner.transports.map((line) => line.transport)).toEqual(TRANSPORT_IDS)
  expect(banner.transports.every((line) => line.on)).toBe(true)
  expect(attempts(banner)).toEqual({
    webrtc: 'open the page',
    room: '',
    telephony_a: 'botcli call --as telephony_a',
    telephony_b: 'botcli call --as telephony_b',
    telephony_c: 'botcli call --as telephony_c',
    telephony_d: 'botcli call --as telephony_d',
    websocket: 'ws://localhost:7860/ws-client',
  })
  expect(banner.transports.find((line) => line.transport === 'room')?.note).toBe('needs ROOM_API_KEY')
  expect(banner.hints).toEqual([])
})

it('sends to rooms when it can make them', () => {
  const { transports } = makeBanner(input({ env: { ROOM_API_KEY: 'key' } }))
  expect(transports.find((line) => line.transport === 'room')).toMatchObject({
    attempt: 'open http://localhost:7860/daily',
    note: '',
  })
})

it.each([
  ['http://localhost:81', 'botcli call http://localhost:81 --as telephony_a'],
  ['http://[::1]:7860', "botcli call 'http://[::1]:7860' --as telephony_a"],
])('has commands that find it at %s', (url, command) => {
  expect(attempts(makeBanner(input({}, url))).telephony_a).toBe(command)
})

it('says which credentials a carrier lacks to hang up, aloud when it was selected', () => {
  const env = { TELEPHONY_A_ACCOUNT_ID: 'id' }
  const note = 'cannot hang up calls without TELEPHONY_A_AUTH_TOKEN'
  const everything = makeBanner(input({ env }))
  expect(everything.transports.find((line) => line.transport === 'telephony_a')?.note).toBe(note)
  expect(everything.hints).toEqual([])
  const selected = { transport: 'telephony_a', proxy: 'a.example' } as const
  expect(makeBanner(input({ env, ...selected })).hints).toContain(`telephony_a ${note}`)
  const complete = { ...env, TELEPHONY_A_AUTH_TOKEN: 'token' }
  const telephony = { webhookSecrets: { a: { authToken: 'token' } } }
  expect(makeBanner(input({ env: complete, telephony, ...selected })).hints).toEqual([])
})

describe('addresses for others', () => {
  const addresses = (config: Partial<RunnerConfig>) =>
    makeBanner({ ...input(config), transports: config.transport ? [config.transport] : TRANSPORT_IDS })
      .addresses

  it('name the one that all carriers share, once', () => {
    expect(addresses({})).toEqual([
      { title: 'Carriers', url: 'ws://localhost:7860/ws', note: expect.stringContaining('--proxy') },
    ])
    expect(addresses({ proxy: 'a.example' })).toEqual([
      { title: 'Carriers', url: 'wss://a.example/ws', note: '' },
    ])
    expect(addresses({ transport: 'webrtc' })).toEqual([])
  })

  it('have the webhook of the selected carrier', () => {
    expect(addresses({ transport: 'telephony_b', proxy: 'a.example' })).toContainEqual({
      title: 'Webhook',
      url: 'https://a.example/',
      note: '',
    })
  })

  it('have the webhooks of dial-in and WhatsApp when they are on', () => {
    const both = addresses({ transport: 'room', dialin: true, whatsapp: WHATSAPP, proxy: 'a.example' })
    expect(both).toEqual([
      { title: 'Dial-in', url: 'https://a.example/daily-dialin-webhook', note: '' },
      { title: 'WhatsApp', url: 'https://a.example/whatsapp', note: '' },
    ])
    expect(addresses({ transport: 'room', dialin: true })).toEqual([
      {
        title: 'Dial-in',
        url: 'http://localhost:7860/daily-dialin-webhook',
        note: expect.stringContaining('--proxy'),
      },
    ])
  })
})

it('shows only the transport that was asked for', () => {
  expect(makeBanner(input({ transport: 'websocket' })).transports).toMatchObject([
    { transport: 'websocket', on: true },
  ])
})

it('gives an address that can be opened when it listens everywhere', () => {
  expect(makeBanner(input({ host: '0.0.0.0' }, 'http://0.0.0.0:81')).url).toBe('http://localhost:81')
  expect(makeBanner(input({ host: '::' }, 'http://[::]:81')).url).toBe('http://localhost:81')
})

describe('security', () => {
  it('is told for this machine alone', () => {
    expect(makeBanner(input()).security).toEqual([
      'Only this machine can connect',
      'Pages of all origins are allowed',
      'WebSocket clients need no token',
    ])
  })

  it('is told for those who come by a public name, with what is not checked', () => {
    const proxied = input({ transport: 'telephony_a', proxy: 'bot.example.com' })
    expect(makeBanner(proxied).security[0]).toBe(
      'Only this machine can connect, and whoever bot.example.com leads here',
    )
    expect(makeBanner(proxied).hints).toContain(
      'Calls are taken from anybody who claims to be the carrier; set TELEPHONY_A_AUTH_TOKEN to check',
    )
    const telephony = { webhookSecrets: { a: { authToken: 'x' } } }
    const checked = input({ transport: 'telephony_a', proxy: 'bot.example.com', telephony })
    expect(makeBanner(checked).hints.join()).not.toContain('claims to be')
  })

  it('is told for a network', () => {
    const banner = makeBanner(input({ host: '192.168.0.2' }, 'http://192.168.0.2:7860'))
    expect(banner.security[0]).toContain('Other machines can connect')
    expect(banner.hints.join()).toContain('--allowed-origins')
  })

  it('is told when it is closed', () => {
    const banner = makeBanner(
      input({ host: '0.0.0.0', allowedOrigins: ['https://a.example'], wsAuth: 'token' }),
    )
    expect(banner.security.slice(1)).toEqual([
      'Only pages of https://a.example are allowed',
      'WebSocket clients need a token',
    ])
    expect(banner.hints.join()).not.toContain('Anybody')
    expect(banner.hints.join()).toContain('carriers show no origin')
  })
})

it.each([
  [{ isolation: 'inline' as const }, '--isolation inline'],
  [{ evals: true }, '--evals'],
  [{ transport: 'webrtc' as const, proxy: 'a.example' }, '--proxy'],
])('hints at what has no effect or a price: %j', (config, hint) => {
  expect(makeBanner(input(config)).hints).toEqual([expect.stringContaining(hint)])
})

it.each<Partial<RunnerConfig>>([
  { transport: 'websocket' },
  { transport: 'room', dialin: true },
  { transport: 'webrtc', whatsapp: WHATSAPP },
])('does not say that --proxy is idle where an address is made from it: %j', (config) => {
  expect(makeBanner(input({ ...config, proxy: 'a.example' })).hints).toEqual([])
})

it('is drawn with and without colour', () => {
  const given = input()
  const banner = makeBanner(given)
  const plain = formatBanner(banner, given, false)
  expect(plain).toContain('botcli 1.2.3  bot.ts')
  expect(plain).toContain('http://localhost:7860/client/')
  expect(plain).not.toContain('\u001b')
  expect(plain).toMatch(/○ room \(Daily room\) +needs ROOM_API_KEY\n/)
  expect(plain).toMatch(/● telephony_a \(Twilio\) +botcli call --as telephony_a\n/)
  expect(plain).toMatch(/ {2}Carriers +ws:\/\/localhost:7860\/ws /)
  expect(formatBanner(banner, given, true)).toContain('\u001b[36m')
})

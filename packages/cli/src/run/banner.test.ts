import { TRANSPORT_IDS } from '@botcli/protocol'
import { DEFAULTS, type RunnerConfig } from '@botcli/runner'
import { describe, expect, it } from 'vitest'
import { type BannerInput, formatBanner, makeBanner } from './banner.ts'

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

it('says what to open, what is on and what is not yet', () => {
  const banner = makeBanner(input())
  expect(banner.page).toBe('http://localhost:7860/client/')
  expect(banner.transports.map((line) => line.transport)).toEqual(TRANSPORT_IDS)
  expect(banner.transports.filter((line) => line.on).map((line) => line.transport)).toEqual([
    'webrtc',
    'websocket',
  ])
  expect(banner.transports.find((line) => line.transport === 'room')?.note).toBe('not in this version yet')
  expect(banner.hints).toEqual([])
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
    expect(banner.hints.join()).not.toContain('--allowed-origins')
  })
})

it.each([
  [{ dialin: true }, '--dialin'],
  [{ whatsapp: true }, '--whatsapp'],
  [{ isolation: 'inline' as const }, '--isolation inline'],
  [{ transport: 'webrtc' as const, proxy: 'a.example' }, '--proxy'],
])('hints at what has no effect or a price: %j', (config, hint) => {
  expect(makeBanner(input(config)).hints).toEqual([expect.stringContaining(hint)])
})

it('does not say that --proxy is idle where the address of the WebSocket is made from it', () => {
  expect(makeBanner(input({ transport: 'websocket', proxy: 'a.example' })).hints).toEqual([])
})

it('is drawn with and without colour', () => {
  const given = input()
  const banner = makeBanner(given)
  const plain = formatBanner(banner, given, false)
  expect(plain).toContain('botcli 1.2.3  bot.ts')
  expect(plain).toContain('http://localhost:7860/client/')
  expect(plain).not.toContain('\u001b')
  expect(formatBanner(banner, given, true)).toContain('\u001b[36m')
})

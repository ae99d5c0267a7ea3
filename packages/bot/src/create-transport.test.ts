import { TRANSPORT_IDS } from '@botcli/protocol'
import { describe, expect, it, vi } from 'vitest'
import type { RunnerArguments } from './arguments.ts'
import { createTransport, type TransportFactories } from './create-transport.ts'
import { START, startBot } from './testing/test-host.ts'
import type { Transport, TransportParams } from './transport.ts'

/** Runs a bot that does one thing, and gives what came of it. */
async function outcomeOf(work: (args: RunnerArguments) => Promise<unknown>, start = START) {
  const { host } = await startBot(async (args) => {
    await work(args)
  }, start)
  const end = await host.message('end')
  host.port.close()
  return { end, host }
}

describe('createTransport', () => {
  it.each(TRANSPORT_IDS.filter((id) => id !== 'room'))('serves %s', async (id) => {
    const factories = Object.fromEntries(
      TRANSPORT_IDS.map((known) => [known, () => ({})]),
    ) as TransportFactories
    let transport: Transport | undefined
    const { host, end } = await outcomeOf(
      async (args) => {
        transport = await createTransport(args, factories)
      },
      { sessionId: 's', transport: id, body: {} },
    )
    expect(end.outcome).toBe('returned')
    expect(transport?.type).toBe(id)
    expect(await host.message('format')).toEqual({ type: 'format', inputRate: 16_000, outputRate: 24_000 })
  })

  it('says that rooms have no SDK for Node, and what works instead', async () => {
    const room = { roomUrl: 'https://rooms.example/one', token: 't' }
    const { end } = await outcomeOf((args) => createTransport(args, { room: () => ({}) }), {
      sessionId: 's',
      transport: 'room',
      body: {},
      room,
    })
    expect(end.error?.message).toMatch(/no SDK for Node.*webrtc, websocket or a phone carrier.*args\.roomUrl/)
  })

  it('says that evals are not for bots in JavaScript', async () => {
    const websocket = { path: '/ws', remoteAddress: '127.0.0.1' }
    const { end } = await outcomeOf(
      (args) => {
        expect(args).toMatchObject({ variant: 'websocket', transportType: 'eval' })
        return createTransport(args, { websocket: () => ({}) })
      },
      { sessionId: 's', transport: 'eval', passThrough: true, body: {}, websocket },
    )
    expect(end.error).toMatchObject({ name: 'BotError', message: expect.stringContaining('eval') })
  })

  it('says which transport is missing and how to add it', async () => {
    const { end } = await outcomeOf((args) => createTransport(args, { websocket: () => ({}) }))
    expect(end.error?.name).toBe('BotError')
    expect(end.error?.message).toMatch(
      /uses 'webrtc'; add `webrtc: \(\) => \(\{\}\)`.*serves only: websocket/,
    )
  })

  it('asks only the factory of the caller, which may take its time', async () => {
    const other = vi.fn(() => ({}))
    const { host } = await outcomeOf((args) =>
      createTransport(args, {
        websocket: other,
        webrtc: async () => {
          await new Promise((resolve) => setTimeout(resolve, 5))
          return { audioInSampleRate: 8000, audioOutSampleRate: 44_100 }
        },
      }),
    )
    expect(await host.message('format')).toEqual({ type: 'format', inputRate: 8000, outputRate: 44_100 })
    expect(other).not.toHaveBeenCalled()
  })

  it.each([
    ['audioInSampleRate', 7999],
    ['audioOutSampleRate', 48_050],
    ['audioInSampleRate', 16_001],
    ['audioOutSampleRate', 22_050.5],
    ['audioOutSampleRate', Number.NaN],
  ])('refuses %s %d', async (name, rate) => {
    const params: TransportParams = { [name]: rate }
    const { end } = await outcomeOf((args) => createTransport(args, { webrtc: () => params }))
    expect(end.error?.message).toContain(`${name} is ${rate}`)
  })

  it('makes one transport a session, even when asked twice at once', async () => {
    const { end } = await outcomeOf((args) => {
      const webrtc = () => ({})
      return Promise.all([createTransport(args, { webrtc }), createTransport(args, { webrtc })])
    })
    expect(end.error?.message).toContain('called twice')
  })

  it('does not know a copy of the arguments', async () => {
    const { end } = await outcomeOf((args) => createTransport({ ...args }, { webrtc: () => ({}) }))
    expect(end.error?.message).toContain('the very object')
  })

  it('finds the session from another copy of this package', async () => {
    const { end, host } = await outcomeOf(async (args) => {
      vi.resetModules()
      const copy = await import('./create-transport.ts')
      expect(copy.createTransport).not.toBe(createTransport)
      await copy.createTransport(args, { webrtc: () => ({}) })
    })
    expect(end.error).toBeUndefined()
    await host.message('format')
  })

  it('makes none once the session is over', async () => {
    let error: unknown
    let goOn = (): void => {}
    const isOver = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { host } = await startBot(async (args) => {
      const webrtc = () => isOver.then(() => ({}))
      await createTransport(args, { webrtc }).catch((caught) => {
        error = caught
      })
    })
    host.send({ type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 })
    host.send({ type: 'ping', id: 1 })
    await host.message('pong')
    goOn()
    expect((await host.message('end')).outcome).toBe('returned')
    expect(error).toMatchObject({
      code: 'session_ended',
      message: expect.stringContaining('the caller left'),
    })
    host.port.close()
  })
})

import { inspect } from 'node:util'
import type { BotStart } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { argumentsOf, type RunnerArguments } from './arguments.ts'

const common = { sessionId: 's', body: { a: 1 } }
const starts = {
  webrtc: { ...common, transport: 'webrtc', webrtc: { pcId: 'p' } },
  room: { ...common, transport: 'room', room: { roomUrl: 'https://rooms.example/x' } },
  websocket: { ...common, transport: 'telephony_b', websocket: { path: '/ws', remoteAddress: '10.0.0.1' } },
  base: { ...common, transport: 'room' },
} as const satisfies Record<RunnerArguments['variant'], BotStart>

describe('argumentsOf', () => {
  it.each(Object.entries(starts))('makes the %s variant', (variant, start) => {
    const args = argumentsOf(start)
    expect(args.variant).toBe(variant)
    expect(args).toMatchObject({ sessionId: 's', body: { a: 1 }, handleSigint: false, handleSigterm: false })
  })

  it('tells a phone bot its carrier', () => {
    const args = argumentsOf(starts.websocket)
    expect(args.variant === 'websocket' && args.transportType).toBe('telephony_b')
  })

  it('has a room token only when there is one', () => {
    expect('token' in argumentsOf(starts.room)).toBe(false)
    const args = argumentsOf({ ...starts.room, room: { roomUrl: 'https://rooms.example/x', token: 't' } })
    expect(args.variant === 'room' && args.token).toBe('t')
  })

  it('does not compile, and throws, when a field of another variant is read', () => {
    const args = argumentsOf(starts.websocket)
    if (args.variant === 'webrtc') throw new Error('unexpected')
    // @ts-expect-error only the webrtc variant has it
    expect(() => args.webrtcConnection).toThrow(/only when args\.variant is 'webrtc'.*it is 'websocket'/)
    // @ts-expect-error not every variant has it
    expect(() => args.roomUrl).toThrow(/'room'/)
    // @ts-expect-error nothing has it
    expect(args.nonsense).toBeUndefined()
  })

  it('reads an optional field of its own variant as absent', () => {
    const args = argumentsOf(starts.room)
    expect(args.variant === 'room' && args.token).toBeUndefined()
  })

  it('stays a plain object for everything that looks at all of it', async () => {
    const args = argumentsOf(starts.room)
    expect('webrtcConnection' in args).toBe(false)
    expect(JSON.parse(JSON.stringify(args))).toEqual({ ...args })
    expect(structuredClone(args)).toEqual({ ...args })
    expect(inspect(args)).toBe(inspect({ ...args }))
    expect(Object.keys(args)).not.toContain('websocket')
    expect(await Promise.resolve(args)).toBe(args)
  })

  it('cannot be changed', () => {
    const args = argumentsOf(starts.webrtc)
    expect(() => Object.assign(args, { sessionId: 'other' })).toThrow(TypeError)
    expect(() => Object.assign(args, { extra: 1 })).toThrow(TypeError)
  })
})

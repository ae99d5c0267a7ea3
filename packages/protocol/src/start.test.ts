import { describe, expect, it } from 'vitest'
import { startRequestSchema } from './start.ts'
import { TRANSPORT_IDS } from './transports.ts'

describe('startRequestSchema', () => {
  it('takes an empty request, with its default', () => {
    expect(startRequestSchema.parse({})).toEqual({ enableDefaultIceServers: false })
  })

  it.each(TRANSPORT_IDS)('takes %s', (transport) => {
    expect(startRequestSchema.parse({ transport }).transport).toBe(transport)
  })

  it('takes everything that the spec names, and leaves out what it does not', () => {
    const request = {
      transport: 'room',
      enableDefaultIceServers: true,
      createRoom: true,
      roomProperties: { start_video_off: true },
      meetingTokenProperties: { is_owner: true, user_name: 'Ada' },
      body: { anything: [1, { deep: null }] },
    }
    expect(startRequestSchema.parse({ ...request, createDailyRoom: true })).toEqual(request)
  })

  it('names a transport that there is not, and those that there are', () => {
    const { error } = startRequestSchema.safeParse({ transport: 'pigeon' })
    expect(error?.issues[0]?.message).toBe(
      `"pigeon" is not a transport; allowed are ${TRANSPORT_IDS.join(', ')}`,
    )
  })

  it.each([
    [{ body: 'text' }],
    [{ body: [] }],
    [{ body: null }],
    [{ enableDefaultIceServers: 'yes' }],
    [{ createRoom: 1 }],
    [{ roomProperties: [] }],
    [{ transport: null }],
    [[]],
    [null],
    ['text'],
  ])('refuses %j', (request) => {
    expect(startRequestSchema.safeParse(request).success).toBe(false)
  })
})

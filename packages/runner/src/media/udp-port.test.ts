import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture } from '../testing/runner-fixture.ts'
import { takeUdpPort } from './udp-port.ts'

async function occupied(): Promise<{ port: number; free: () => void }> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  return { port: socket.address().port, free: () => socket.close() }
}

describe('the UDP port of a media worker', () => {
  it('is one that nobody has', async () => {
    const { port, free } = await occupied()
    const found = await takeUdpPort({ first: port, last: port + 20 })
    expect(found.number).toBeGreaterThan(port)
    const other = await takeUdpPort({ first: port, last: port + 20 }, new Set([found.number]))
    expect(other.number).toBeGreaterThan(found.number)
    free()
    const freed = await takeUdpPort({ first: port, last: port })
    expect(freed.number).toBe(port)
    for (const one of [found, other, freed]) one.free()
  })

  it('is nobody else’s before its first call, either', async () => {
    const { port, free } = await occupied()
    free()
    const range = { first: port, last: port }
    const taken = await takeUdpPort(range)
    await expect(takeUdpPort(range)).rejects.toMatchObject({ code: 'port_in_use' })
    taken.free()
    const again = await takeUdpPort(range)
    again.free()
  })

  it.each(['process', 'inline'] as const)(
    'keeps a runner from starting when it is taken (%s)',
    async (isolation) => {
      const { port, free } = await occupied()
      const start = RunnerFixture.start(ECHO, { isolation, warm: 0, icePorts: { first: port, last: port } })
      await expect(start).rejects.toMatchObject({
        code: 'port_in_use',
        message: expect.stringContaining('--ice-port'),
      })
      free()
    },
  )
})

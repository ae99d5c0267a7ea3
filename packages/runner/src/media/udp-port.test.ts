import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture } from '../testing/runner-fixture.ts'
import { freeUdpPort } from './udp-port.ts'

async function occupied(): Promise<{ port: number; free: () => void }> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  return { port: socket.address().port, free: () => socket.close() }
}

describe('the UDP port of a media worker', () => {
  it('is one that nobody has', async () => {
    const { port, free } = await occupied()
    const found = await freeUdpPort({ first: port, last: port + 20 })
    expect(found).toBeGreaterThan(port)
    expect(await freeUdpPort({ first: port, last: port + 20 }, new Set([found]))).toBeGreaterThan(found)
    free()
    expect(await freeUdpPort({ first: port, last: port })).toBe(port)
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

import { duplexPair } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { START } from '../testing/session-fixture.ts'
import { LocalMediaHost } from './local-media-host.ts'

const STOPPED = { result: 'ok', cause: 'stopped', message: 'enough' } as const

describe('a media host in this process', () => {
  const host = new LocalMediaHost({ ice: {}, maxMemoryBytes: 1024 })

  it('breaks the link of a guest that comes too late', async () => {
    const [link] = duplexPair()
    await expect(host.join('nobody', link, START)).rejects.toMatchObject({ code: 'media_unavailable' })
    expect(link.destroyed).toBe(true)
  })

  it('knows nothing of sessions that are not there', async () => {
    await expect(host.negotiate('nobody', 'v=0', true)).rejects.toMatchObject({ code: 'media_unavailable' })
    host.addCandidates('nobody', [{ candidate: 'x', mid: '0' }])
    expect(await host.close('nobody', STOPPED, 0)).toBeUndefined()
  })

  it('holds nothing after an offer or a handshake that it refused', async () => {
    const events = { connected() {}, disconnected() {}, over() {}, report() {} }
    await expect(host.openWebrtc('one', 'nonsense', events)).rejects.toMatchObject({ code: 'invalid_offer' })
    const [socket, peer] = duplexPair()
    peer.resume()
    const request = { url: '/', headers: {}, head: new Uint8Array() }
    await expect(host.openWebsocket('two', request, socket, false, events)).rejects.toMatchObject({
      code: 'invalid_upgrade',
    })
    expect(host.load).toBe(0)
  })
})

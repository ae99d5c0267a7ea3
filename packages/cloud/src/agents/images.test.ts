import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'

let house: AgentHouse
beforeEach(async () => {
  house = await AgentHouse.open()
})
afterEach(() => house.close())

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`

describe('an image that no build has made', () => {
  it.each([
    'bot',
    'bot:1',
    'botcli/x',
    'library/bot:1',
    'localhost/botcli/x:1',
    'localhost/bot',
    'bundle:081291fe-ec67-49ad-b129-d403aba12ee6',
    DIGEST,
    DIGEST.slice(7),
    `bot@${DIGEST}`,
    'registry.test',
    'registry.test/',
    'registry.test/../bot',
    'registry.test//bot',
    'docker://registry.test/bot',
    'containers-storage:5000/botcli/x',
    'dir:/etc/x.y',
    '-v.x/bot',
    'registry.test/bot --privileged',
  ])('must name its registry, not as %s', async (image) => {
    const { status, body } = await house.create('echo', { image })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_REQUEST',
        error: expect.stringMatching(/^image: .*registry\.example\.com\/team\/bot:1/),
      },
    })
    expect(house.engine.started).toEqual([])
  })

  it.each([
    'registry.test/bot',
    'registry.test:8443/a/b_c/bot-1.x:V1.0_x',
    'localhost:5000/bot',
    'registry:5000/bot',
    '10.0.0.1/bot',
    `docker.io/team/bot:1@${DIGEST}`,
  ])('is fetched as %s, with nobody’s credentials', async (image) => {
    await house.deployed('echo', { image })
    expect(house.engine.started[0]?.spec.artifact).toEqual({
      ...{ kind: 'image', name: image },
      foreign: { credentials: undefined },
    })
  })

  it('is fetched with the credentials that are given, and only these', async () => {
    const auth = Buffer.from('me:token').toString('base64')
    const secret = { isImagePullSecret: true, host: 'registry.test', secretValue: auth }
    expect((await house.fixture.send('PUT', '/v1/secrets/pull', secret)).status).toBe(202)
    await house.deployed('echo', { imagePullSecretSet: 'pull' })
    expect(house.engine.started[0]?.spec.artifact).toMatchObject({
      foreign: { credentials: { host: 'registry.test', auth } },
    })
  })
})

import { TRANSPORT_IDS } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture } from '../testing/runner-fixture.ts'

describe('the files of the page', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO, { pageDir: `${import.meta.dirname}/../testing/page` })
  })
  afterAll(() => runner.close())

  it('are found under both of its addresses', async () => {
    const bare = await runner.request('/client')
    expect(bare.status).toBe(200)
    expect(bare.headers.get('content-type')).toContain('text/html')
    expect(await bare.text()).toContain('<base href="client/">')
    const folder = await runner.request('/client/')
    expect(folder.status).toBe(200)
    expect(await folder.text()).not.toContain('<base')
    const part = await runner.request('/client/part.js')
    expect(part.headers.get('content-type')).toContain('text/javascript')
    expect(part.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('tell the page what this runner serves', async () => {
    const text = await (await runner.request('/client/')).text()
    const facts = /<script type="application\/json" id="runner">(.*?)<\/script>/.exec(text)?.[1] ?? ''
    expect(JSON.parse(facts)).toMatchObject({ transports: TRANSPORT_IDS, originAllowed: true })
  })

  it.each(['/client/../package.json', '/client/%2e%2e/page.ts', '/client//etc/passwd', '/client/index.html'])(
    'are the only ones: not %s',
    async (path) => {
      const { status } = await runner.request(path)
      expect(status).toBe(404)
    },
  )
})

describe('a runner without a page', () => {
  it('serves everything else and says how to build it', async () => {
    const runner = await RunnerFixture.start(ECHO, { pageDir: `${import.meta.dirname}/nowhere` })
    const response = await runner.request('/client/')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: expect.stringContaining('npm run build') })
    expect((await runner.request('/status')).status).toBe(200)
    await runner.close()
  })
})

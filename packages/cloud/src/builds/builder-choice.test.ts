import { describe, expect, it } from 'vitest'
import { CloudFixture } from '../testing/cloud-fixture.ts'
import { ScriptedBuilder } from '../testing/scripted-builder.ts'

describe('a build that takes too long', () => {
  it('ends as timeout, and says so in its log', async () => {
    const cloud = await CloudFixture.start({ config: { builds: { seconds: 1 } } })
    const { build } = await cloud.build({ Dockerfile: 'RUN echo slow; sleep 60\n' })
    expect(await cloud.ended(build.id)).toMatchObject({
      status: 'timeout',
      errorMessage: 'The build did not end within its limit of 1 s.',
    })
    expect((await cloud.logs(build.id)).at(-1)).toBe(
      'Timeout: The build did not end within its limit of 1 s.',
    )
    await cloud.close()
  })
})

describe('builders', () => {
  const named = (kind: 'docker' | 'native') => ({ kind, probe: async () => new ScriptedBuilder(`${kind} 1`) })

  it('are tried in the order that is configured, and others are not used', async () => {
    const builders = [named('docker'), named('native')]
    const first = async (config: object) => {
      const cloud = await CloudFixture.start({ builders, config })
      const { build } = await cloud.build({ Dockerfile: 'RUN true\n' })
      await cloud.ended(build.id)
      const [line] = await cloud.logs(build.id)
      await cloud.close()
      return line
    }
    expect(await first({})).toBe('Builder: docker 1')
    expect(await first({ builds: { builders: ['native', 'docker'] } })).toBe('Builder: native 1')
    expect(await first({ builds: { builders: ['native'] } })).toBe('Builder: native 1')
  })

  it('do not share what they have built', async () => {
    const names = ['native 1', 'native 2']
    const probe = { kind: 'native' as const, probe: async () => new ScriptedBuilder(names[0]) }
    const cloud = await CloudFixture.start({ builders: [probe] })
    const files = { Dockerfile: 'RUN true\n' }
    await cloud.ended((await cloud.build(files)).build.id)
    expect((await cloud.build(files)).cached).toBe(true)
    names.shift()
    await cloud.restart()
    expect((await cloud.build(files)).cached).toBe(false)
    await cloud.close()
  })
})

describe('without anything that can build', () => {
  it('builds fail with what was looked for', async () => {
    const probe = { kind: 'docker' as const, probe: async () => ({ unavailable: 'there is no socket' }) }
    const cloud = await CloudFixture.start({ builders: [probe] })
    const { build } = await cloud.build({ Dockerfile: 'RUN true\n' })
    expect(await cloud.ended(build.id)).toMatchObject({
      status: 'failed',
      failure: { code: 'builder_failed' },
    })
    expect(await cloud.logs(build.id)).toContain('No docker: there is no socket')
    await cloud.close()
  })
})

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkDockerfile } from '../dockerfile/check.ts'
import { isBefore, knownHole } from './known-holes.ts'

let context: string
beforeEach(async () => {
  context = await mkdtemp(join(tmpdir(), 'botcli-holes-'))
  await mkdir(join(context, 'src'))
  await symlink('/', join(context, 'out'))
})
afterEach(async () => {
  await rm(context, { recursive: true, force: true })
})

async function holeOf(version: string, lines: string) {
  await writeFile(join(context, 'Dockerfile'), `FROM a AS base\nFROM b\n${lines}\n`)
  const checked = await checkDockerfile({ context, dockerfilePath: 'Dockerfile' })
  if ('problems' in checked) throw new Error(checked.problems[0]?.message)
  return await knownHole(version, checked, context)
}

it.each([
  ['1.28.2', '1.35.1', true],
  ['1.35.0', '1.35.1', true],
  ['1.35.1', '1.35.1', false],
  ['1.100.0', '1.35.1', false],
  ['1.9.0', '1.35.1', true],
  ['2.0.0-dev', '1.37.4', false],
  ['1.28.2+ds1', '1.28.2', false],
  ['', '1.35.1', true],
])('%j is before %s: %s', (version, other, expected) => {
  expect(isBefore(version, other)).toBe(expected)
})

describe('an old buildah is not given', () => {
  it.each([
    'RUN --mount=type=bind,from=base,source=/x,target=/h ls',
    'RUN --mount=from=base,source=/x,target=/h ls',
    'RUN --network=none --mount=type=bind,\\\nfrom=base,target=/h ls',
    'ONBUILD RUN --mount=type=bind,from=base,target=/h ls',
    'RUN --mount=type=bind,source=src,target=/h,rw ls',
    'RUN --mount=type=bind,source=src,target=/h,ro=false ls',
    'RUN --mount=type=bind,source=out/etc,target=/h ls',
    'RUN --mount=type=bind,source=src,src=out/etc,target=/h ls',
    'RUN --mount=type=tmpfs,type=bind,source=src,target=/h ls',
    'RUN --mount=type=bind,bind-propagation=shared,target=/h ls',
    'RUN --mount=type=cache,from=base,target=/h ls',
    'RUN --mount=type=cache,id=../../x,target=/h ls',
    'RUN --mount=type=cache,target=/h/../../.. ls',
    'RUN --mount=type=cache,source=/x,target=/h ls',
    'RUN --mount=type=cache,target=/c/x ls\nRUN --mount=type=cache,target=/c ls',
    'RUN --mount=type=cache,id=c/x,target=/h ls\nRUN --mount=type=cache,target=/c ls',
    'RUN --mount="type=bind,source=src,target=/h" ls',
    'RUN --mount=type=bind,source=src,target=/a\\ b,from=base ls',
    'ARG X=from\nRUN --mount=type=bind,$X=base,target=/h ls',
  ])('%s', async (lines) => {
    const hole = await holeOf('1.28.2', lines)
    expect(hole).toMatchObject({ ok: false, failure: { code: 'builder_failed' } })
    expect(hole?.message).toContain('refused with buildah 1.28.2')
    expect(hole?.failure.step).toMatch(/RUN/)
    expect(hole?.failure.line).toBeGreaterThan(2)
    expect(hole?.failure.hint).toMatch(/buildah 1\.3[57]\.[14] on/)
    expect(await holeOf('1.38.0', lines)).toBeUndefined()
  })

  it('and is given what is harmless', async () => {
    const lines = [
      'RUN --mount=type=cache,target=/root/.cache/pip --mount=type=cache,target=/root/.npm,sharing=locked ls "$HOME"',
      'RUN --mount=type=bind,source=src,target=/src,ro --mount=type=tmpfs,target=/t --mount=type=secret,id=k ls',
      'RUN docker run --mount="type=bind,from=x" a',
      'COPY --from=base /x /y',
    ]
    expect(await holeOf('1.28.2', lines.join('\n'))).toBeUndefined()
  })

  it('with each hole for itself', async () => {
    const bind = 'RUN --mount=type=bind,from=base,target=/h ls'
    expect(await holeOf('1.35.0', bind)).toMatchObject({
      failure: { step: bind, line: 3, hint: expect.stringContaining('COPY --from=') },
    })
    expect(await holeOf('1.36.0', bind)).toBeUndefined()
    expect(await holeOf('1.36.0', 'RUN --mount=type=cache,id=..,target=/h ls')).toBeDefined()
  })
})

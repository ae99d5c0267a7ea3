import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { basesAreSame, basesOf } from './bases.ts'
import { checkDockerfile } from './check.ts'

const IDS = new Map([
  ['python:3.11', 'p'],
  ['node:20', 'n'],
  ['localhost/tools:1', 't'],
])
const idOf = async (name: string): Promise<string | null> => IDS.get(name) ?? null

async function bases(dockerfile: string) {
  const context = await mkdtemp(join(tmpdir(), 'botcli-bases-'))
  onTestFinished(() => rm(context, { recursive: true }))
  await writeFile(join(context, 'Dockerfile'), dockerfile)
  const checked = await checkDockerfile({ context, dockerfilePath: 'Dockerfile' })
  if ('problems' in checked) throw new Error(JSON.stringify(checked.problems))
  return basesOf(checked, idOf)
}

it('are the images that the needed stages begin with or take files from, and no stages', async () => {
  const file = `ARG VERSION=3.11
FROM node:20 AS web
FROM node:18 AS unused
FROM python:$VERSION AS one
FROM one
COPY --from=web /x /x
COPY --from=localhost/tools:1 /y /y
RUN --mount=type=bind,from=gone:1,target=/z true
`
  expect(await bases(file)).toEqual([
    { name: 'node:20', id: 'n' },
    { name: 'python:3.11', id: 'p' },
    { name: 'localhost/tools:1', id: 't' },
    { name: 'gone:1', id: null },
  ])
  expect(await bases('FROM scratch\nENV A=b\n')).toEqual([])
})

it('are the same as long as every name stands for what it stood for', async () => {
  const python = { name: 'python:3.11', id: 'p' }
  expect(await basesAreSame([], idOf)).toBe(true)
  expect(await basesAreSame([python, { name: 'node:20', id: 'n' }], idOf)).toBe(true)
  expect(await basesAreSame([python, { name: 'node:20', id: 'm' }], idOf)).toBe(false)
  expect(await basesAreSame([{ name: 'gone:1', id: 'g' }], idOf)).toBe(false)
  expect(await basesAreSame([{ name: 'gone:1', id: null }], idOf)).toBe(false)
})

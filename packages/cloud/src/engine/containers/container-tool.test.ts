import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { processesWith } from '../../builders/limits/processes.ts'
import { until } from '../../testing/cloud-fixture.ts'
import { ContainerTool, type PullOptions } from './container-tool.ts'

/** An engine that writes down what it was asked and the credentials that it was given, and knows one image. */
const ENGINE = `#!/bin/sh
dir=$(dirname "$0")
echo "$@" >> "$dir/asked"
for word in "$@"; do
  [ "$before" = --authfile ] && cat "$word" > "$dir/auth"
  before=$word
done
case "$*" in
  *refused*) echo 'unauthorized: no' >&2; exit 125;;
  *endless*) echo half > "$TMPDIR/layer"; sleep 1000 & wait;;
esac
`

let folder: string
let tool: ContainerTool

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-tool-'))
  await writeFile(join(folder, 'engine'), ENGINE)
  await chmod(join(folder, 'engine'), 0o755)
  await mkdir(join(folder, 'scratch'))
  tool = new ContainerTool('engine', [join(folder, 'engine')])
})

function options(changes: Partial<PullOptions> = {}): PullOptions {
  const { signal } = new AbortController()
  return { credentials: undefined, scratch: join(folder, 'scratch'), env: {}, signal, ...changes }
}

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

it.each([
  [undefined, {}],
  [{ host: 'registry.test', auth: 'bWU6dG9rZW4=' }, { 'registry.test': { auth: 'bWU6dG9rZW4=' } }],
])('fetches an image from its registry with the credentials %j and no others', async (given, auths) => {
  const scratch = join(folder, 'scratch')
  await tool.pull('registry.test/bot:1', options({ credentials: given }))
  expect(await readFile(join(folder, 'asked'), 'utf8')).toBe(
    `pull --quiet --authfile ${scratch}/pull/config.json docker://registry.test/bot:1\n`,
  )
  expect(JSON.parse(await readFile(join(folder, 'auth'), 'utf8'))).toEqual({ auths })
  expect(await readdir(scratch)).toEqual([])
})

it('asks for an image by its digest where it has one', async () => {
  await tool.pull('localhost:5000/bot:1@sha256:0123', options())
  expect(await readFile(join(folder, 'asked'), 'utf8')).toMatch(
    / docker:\/\/localhost:5000\/bot@sha256:0123\n$/,
  )
})

it('says why an image could not be fetched', async () => {
  await expect(tool.pull('registry.test/refused', options())).rejects.toThrow(
    'The image registry.test/refused could not be fetched: unauthorized: no',
  )
})

it.skipIf(process.platform !== 'linux').each(['engine', 'docker'])(
  'a fetch by %s that is not wanted any more ends with all its processes and files',
  async (program) => {
    await rename(join(folder, 'engine'), join(folder, program))
    const unwanted = new AbortController()
    const env = { BOTCLI_TEST: folder, PATH: `${folder}:${process.env.PATH}` }
    const scratch = join(folder, 'scratch')
    const fetched = new ContainerTool(program, [program]).pull(
      'registry.test/endless',
      options({ env, scratch, signal: unwanted.signal }),
    )
    const ended = expect(fetched).rejects.toThrow('could not be fetched: It is not wanted any more.')
    const mark = `BOTCLI_TEST=${folder}`
    await until(async () => (await processesWith(mark)).length === 2, 'the program and its helper')
    await until(async () => (await readdir(join(scratch, 'pull'))).includes('layer'), 'a part of the image')
    unwanted.abort()
    await ended
    await until(async () => (await processesWith(mark)).length === 0, 'them to be gone')
    expect(await readdir(scratch)).toEqual([])
  },
)

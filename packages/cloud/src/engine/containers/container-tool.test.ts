import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ContainerTool } from './container-tool.ts'

/** An engine that writes down what it was asked and the credentials that it was given, and knows one image. */
const ENGINE = `#!/bin/sh
dir=$(dirname "$0")
echo "$@" >> "$dir/asked"
for word in "$@"; do
  [ "$before" = --authfile ] && cat "$word" > "$dir/auth"
  before=$word
done
case "$*" in *refused*) echo 'unauthorized: no' >&2; exit 125;; esac
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

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

it.each([
  [undefined, {}],
  [{ host: 'registry.test', auth: 'bWU6dG9rZW4=' }, { 'registry.test': { auth: 'bWU6dG9rZW4=' } }],
])('fetches an image from its registry with the credentials %j and no others', async (given, auths) => {
  const scratch = join(folder, 'scratch')
  await tool.pull('registry.test/bot:1', given, scratch)
  expect(await readFile(join(folder, 'asked'), 'utf8')).toBe(
    `pull --quiet --authfile ${scratch}/auth/config.json docker://registry.test/bot:1\n`,
  )
  expect(JSON.parse(await readFile(join(folder, 'auth'), 'utf8'))).toEqual({ auths })
  expect(await readdir(scratch)).toEqual([])
})

it('asks for an image by its digest where it has one', async () => {
  await tool.pull('localhost:5000/bot:1@sha256:0123', undefined, join(folder, 'scratch'))
  expect(await readFile(join(folder, 'asked'), 'utf8')).toMatch(
    / docker:\/\/localhost:5000\/bot@sha256:0123\n$/,
  )
})

it('says why an image could not be fetched', async () => {
  await expect(tool.pull('registry.test/refused', undefined, join(folder, 'scratch'))).rejects.toThrow(
    'The image registry.test/refused could not be fetched: unauthorized: no',
  )
})

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Compiled, Compiler } from './compile.ts'

let folder: string
let compilers: Compiler[]

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'botcli-compile-')))
  compilers = []
})
afterEach(async () => {
  await Promise.all(compilers.map((compiler) => compiler.close()))
  await rm(folder, { recursive: true, force: true })
})

async function files(contents: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

async function open(name = 'bot.ts'): Promise<Compiler> {
  const compiler = await Compiler.open({ path: join(folder, name), folder }, folder)
  compilers.push(compiler)
  return compiler
}

function codeOf(compiled: Compiled): Extract<Compiled, { kind: 'compiled' }> {
  if (compiled.kind === 'failed') throw new Error(compiled.message)
  return compiled
}

/** Runs `bot()` in a Node of its own, as a guest would. */
async function run(url: string): Promise<{ result: unknown; stderr: string }> {
  const script = `const { bot } = await import(${JSON.stringify(url)}); console.log(JSON.stringify(await bot()))`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--enable-source-maps',
    '--input-type=module',
    '-e',
    script,
  ])
  return { result: JSON.parse(stdout), stderr }
}

it('bundles own files, JSON and tsconfig paths, and leaves packages alone', async () => {
  await files({
    'bot.ts':
      'import { name } from "pkg"\nimport data from "./data.json" with { type: "json" }\nimport { helper } from "~/helper"\n' +
      'export async function bot(): Promise<unknown> { return { name, data, helper: helper() } }\n',
    'lib/helper.ts': 'export const helper = (): string => "helped"\n',
    'data.json': '{"n":1}',
    'tsconfig.json': '{"compilerOptions":{"paths":{"~/*":["./lib/*"]}}}',
    'node_modules/pkg/package.json': '{"name":"pkg","type":"module","exports":"./index.js"}',
    'node_modules/pkg/index.js': 'export const name = import.meta.url',
  })
  const compiled = codeOf(await (await open()).compile())
  expect((await run(compiled.url)).result).toEqual({
    name: pathToFileURL(join(folder, 'node_modules/pkg/index.js')).href,
    data: { n: 1 },
    helper: 'helped',
  })
  expect([...compiled.inputs].sort()).toEqual(
    ['bot.ts', 'data.json', 'lib/helper.ts'].map((name) => join(folder, name)),
  )
})

it('lets every file know where it was', async () => {
  await files({
    'bot.ts':
      '#!/usr/bin/env node\nimport { inner } from "./lib/inner.ts"\n' +
      'export const bot = async () => [import.meta.url, import.meta.dirname, __filename, inner]\n',
    'lib/inner.ts':
      'const __dirname = new URL(".", import.meta.url).pathname\nexport const inner = __dirname\n',
  })
  const { url } = codeOf(await (await open()).compile())
  expect((await run(url)).result).toEqual([
    pathToFileURL(join(folder, 'bot.ts')).href,
    folder,
    join(folder, 'bot.ts'),
    `${join(folder, 'lib')}/`,
  ])
})

it('runs a CommonJS bot, also one that requires packages', async () => {
  await files({
    'bot.js': 'const { x } = require("pkg")\nmodule.exports.bot = async () => [x, __dirname]\n',
    'node_modules/pkg/index.js': 'exports.x = "from pkg"',
  })
  const { url } = codeOf(await (await open('bot.js')).compile())
  expect((await run(url)).result).toEqual(['from pkg', folder])
})

it('keeps a name that the bot has given to its own require', async () => {
  await files({
    'bot.mjs':
      'import { createRequire } from "node:module"\nimport old from "./old.cjs"\n' +
      'const require = createRequire(import.meta.url)\nexport const bot = async () => [require("./d.json"), old]\n',
    'old.cjs': 'module.exports = require("pkg").x',
    'd.json': '1',
    'node_modules/pkg/index.js': 'exports.x = 2',
  })
  const { url } = codeOf(await (await open('bot.mjs')).compile())
  expect((await run(url)).result).toEqual([1, 2])
})

it('maps stacks to the real file and line', async () => {
  await files({
    'bot.ts':
      'interface Unused { a: string }\n\nexport async function bot() {\n  return new Error("x").stack\n}\n',
  })
  const { url } = codeOf(await (await open()).compile())
  expect((await run(url)).result).toContain(`${join(folder, 'bot.ts')}:4:10`)
})

it('reports every error with file and line', async () => {
  await files({
    'bot.ts': 'import { a } from "./a.ts"\nimport { gone } from "./gone.ts"\nexport const bot = [a, gone]\n',
    'a.ts': 'export const a = 1\nconst = 2\n',
  })
  const compiled = await (await open()).compile()
  expect(compiled).toMatchObject({ kind: 'failed', inputs: [join(folder, 'bot.ts'), join(folder, 'a.ts')] })
  expect(compiled.kind === 'failed' && compiled.message).toContain('a.ts:2:7: Expected identifier')
  expect(compiled.kind === 'failed' && compiled.message).toContain(
    'bot.ts:2:22: Could not resolve "./gone.ts"',
  )
})

it('names the line that imports a package which is not there, and no other', async () => {
  await files({
    'package.json': '{"name":"itself","exports":{"./own":"./own.js"},"imports":{"#inner":"./inner.ts"}}',
    'own.js': 'module.exports = 1',
    'inner.ts': 'export const inner = 1\n',
    'bot.ts':
      'import "node:fs"\nimport "fs/promises"\nimport "itself/own"\nimport "#inner"\nimport "@scope/there"\n' +
      'import { x } from "@scope/missing/deep"\nconst y = await import("optional").catch(() => 0)\nexport const bot = () => [x, y]\n',
    'node_modules/@scope/there/package.json': '{"exports":{"import":"./x.mjs"}}',
  })
  const compiled = await (await open()).compile()
  expect(compiled).toMatchObject({ kind: 'failed' })
  expect(compiled.kind === 'failed' && compiled.message.split('\n')[0]).toBe(
    'bot.ts:6:19: The package "@scope/missing" is not installed. Run: npm install @scope/missing',
  )
  expect(compiled.kind === 'failed' && compiled.message.match(/not installed/g)).toHaveLength(1)
})

it('brings its own package along, and leaves one that is installed alone', async () => {
  const code = "import * as own from '@botcli/bot'\nexport const bot = () => Object.keys(own)\n"
  await files({ 'bot.ts': code })
  expect((await run(codeOf(await (await open()).compile()).url)).result).toContain('createTransport')
  await files({
    'node_modules/@botcli/bot/package.json': '{"type":"module","exports":"./x.js"}',
    'node_modules/@botcli/bot/x.js': 'export const theirs = 1\n',
  })
  expect((await run(codeOf(await (await open()).compile()).url)).result).toEqual(['theirs'])
})

it('says when there is no bot in the file', async () => {
  await files({ 'bot.ts': 'export const robot = 1\n' })
  expect(await (await open()).compile()).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('does not export "bot"'),
  })
})

it('leaves nothing behind, and does not touch what a living runner has', async () => {
  await files({ 'bot.ts': 'export const bot = async () => 1\n' })
  const one = await open()
  const { url } = codeOf(await one.compile())
  const two = await open()
  codeOf(await two.compile())
  await two.close()
  expect((await run(url)).result).toBe(1)
  await one.close()
  expect(await readdir(join(folder, '.botcli'))).toEqual(['.gitignore'])
  expect(await readFile(join(folder, '.botcli/.gitignore'), 'utf8')).toBe('*\n')
})

it('removes what runners that are gone have left', async () => {
  await files({ 'bot.ts': 'export const bot = async () => 1\n' })
  const one = await open()
  const [own] = (await readdir(join(folder, '.botcli'))).filter((name) => name !== '.gitignore')
  const [, host = ''] = own?.split('-') ?? []
  // Process numbers end far below this one.
  const stale = join(folder, '.botcli', `99999999-${host}-00000000`)
  const foreign = join(folder, '.botcli', '99999999-ffffffff-00000000')
  await mkdir(stale)
  await mkdir(foreign)
  await open()
  expect(existsSync(stale)).toBe(false)
  expect(existsSync(foreign)).toBe(true)
  codeOf(await one.compile())
})

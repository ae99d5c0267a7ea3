import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Workbench } from '../../testing/workbench.ts'
import { findLimiter } from '../limits/find-limiter.ts'
import { readBundle } from './bundle.ts'
import { NativeBuilder } from './native-builder.ts'
import { findTools } from './tools.ts'

const tools = await findTools()
const limiter = await findLimiter()

let bench: Workbench
let builder: NativeBuilder

async function open(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  bench = await Workbench.open(files)
  builder = new NativeBuilder({ tools, limiter, bundles: bench.bundles, hide: [] })
}

afterEach(async () => {
  await bench.close()
})

describe('a project for Node', () => {
  const NODE = {
    Dockerfile:
      'FROM node:22\nWORKDIR /app\nCOPY server/package*.json ./\nCOPY server/vendor ./vendor\nRUN npm ci --omit=dev\nCOPY server .\nCMD ["node", "bot.mjs"]\n',
    'server/package.json': JSON.stringify({
      name: 'x',
      version: '1.0.0',
      dependencies: { greeter: 'file:vendor/greeter' },
    }),
    'server/package-lock.json': JSON.stringify({
      name: 'x',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': { name: 'x', version: '1.0.0', dependencies: { greeter: 'file:vendor/greeter' } },
        'node_modules/greeter': { resolved: 'vendor/greeter', link: true },
        'vendor/greeter': { version: '1.0.0' },
      },
    }),
    'server/vendor/greeter/package.json': JSON.stringify({
      name: 'greeter',
      version: '1.0.0',
      main: 'index.js',
    }),
    'server/vendor/greeter/index.js': 'module.exports = "hi"\n',
    'server/bot.mjs':
      "import { readFile } from 'node:fs/promises'\nimport greeter from 'greeter'\nimport { createTransport } from '@botcli/bot'\nimport { x } from './more.mjs'\n",
    'server/more.mjs': 'export const x = 1\n',
  }

  it('becomes a bundle', async () => {
    await open(NODE)
    expect(await bench.build(builder)).toMatchObject({ ok: true })
    expect(await readBundle(bench.output)).toMatchObject({
      language: 'node',
      entry: 'app/server/bot.mjs',
      workdir: 'app/server',
      command: ['node', 'bot.mjs'],
      python: null,
    })
    expect(bench.log.text).toContain('$ npm ci --omit=dev')
    expect(bench.log.text).toContain('2 files of the bot: syntax is right and imports are installed')
    expect(existsSync(join(bench.output, 'app/server/node_modules/greeter/index.js'))).toBe(true)
  })

  it.each([
    ['with a lock', 'ci', true],
    ['without one', 'install', false],
  ])('does not install what the runner brings, %s', async (_, command, locked) => {
    const dependencies = { '@botcli/bot': '0.0.0-none', greeter: 'file:vendor/greeter' }
    const lock = JSON.parse(NODE['server/package-lock.json'])
    Object.assign(lock.packages[''], { dependencies, devDependencies: { botcli: '0.0.0-none' } })
    Object.assign(lock.packages, {
      'node_modules/@botcli/bot': { version: '0.0.0-none', dependencies: { ws: '^0.0.0' } },
      'node_modules/@botcli/bot/node_modules/ws': { version: '0.0.0' },
      'node_modules/botcli': { version: '0.0.0-none', dev: true },
    })
    const { 'server/package-lock.json': __, ...others } = NODE
    await open({
      ...others,
      Dockerfile: NODE.Dockerfile.replace('npm ci', `npm ${command}`),
      'server/package.json': JSON.stringify({
        ...{ name: 'x', version: '1.0.0', dependencies, devDependencies: { botcli: '0.0.0-none' } },
      }),
      ...(locked && { 'server/package-lock.json': JSON.stringify(lock) }),
    })
    expect(await bench.build(builder)).toMatchObject({ ok: true })
    expect(bench.log.text).toContain('not installed, for the runner brings it: @botcli/bot, botcli\n')
    expect(existsSync(join(bench.output, 'app/server/node_modules/greeter/index.js'))).toBe(true)
    expect(existsSync(join(bench.output, 'app/server/node_modules/@botcli'))).toBe(false)
  })

  it('fails where a dependency is missing', async () => {
    await open({
      ...NODE,
      'server/more.mjs':
        "// import a from 'not-this'\nexport const x = 1\nimport {\n  y,\n} from '@scope/absent/sub'\n",
    })
    expect(await bench.build(builder)).toMatchObject({
      message: expect.stringMatching(/^server\/more\.mjs:3: Cannot find package '@scope\/absent'$/),
      failure: { code: 'dependency_missing', step: 'RUN npm ci --omit=dev', line: 5 },
    })
  })

  it('fails where an installation fails', async () => {
    await open({
      ...NODE,
      'server/package.json': JSON.stringify({
        name: 'x',
        version: '1.0.0',
        dependencies: { other: 'file:vendor/other' },
      }),
    })
    expect(await bench.build(builder)).toMatchObject({
      failure: { code: 'install_failed', step: 'RUN npm ci --omit=dev', line: 5 },
    })
  })

  it('fails on a wrong line of the bot', async () => {
    await open({ ...NODE, 'server/more.mjs': 'export const x = 1\nexport const y = = 2\n' })
    expect(await bench.build(builder)).toMatchObject({
      message: expect.stringMatching(/^server\/more\.mjs:2: SyntaxError: /),
      failure: { code: 'command_failed' },
    })
  })

  it('fails where a module of its own was not sent', async () => {
    await open({
      ...NODE,
      'server/bot.mjs':
        "import './there.mjs'\nimport { a } from './typed.js'\nimport { b } from './nope.mjs'\n",
      'server/there.mjs': '',
      'server/typed.ts': 'export const a = 1\n',
    })
    expect(await bench.build(builder)).toMatchObject({
      message: "server/bot.mjs:3: Cannot find module './nope.mjs'",
      failure: { code: 'dependency_missing', hint: expect.stringContaining('was not sent') },
    })
  })

  it('says of TypeScript what was checked', async () => {
    const { 'server/bot.mjs': _, ...others } = NODE
    await open({
      ...others,
      Dockerfile: NODE.Dockerfile.replace('bot.mjs', 'bot.ts'),
      'server/bot.ts':
        "import type { A } from 'only-types'\nimport greeter from 'greeter'\nimport { x } from './more.mjs'\n",
    })
    expect(await bench.build(builder)).toMatchObject({ ok: true })
    expect(bench.log.text).toMatch(
      /2 files of the bot: (?:syntax is right and imports are installed|imports are installed; the syntax of TypeScript was not checked)/,
    )
  })
})

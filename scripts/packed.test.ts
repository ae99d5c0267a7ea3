import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../packages/runner/src/testing/runner-fixture.ts'

const ROOT = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

let project: string
let packages: string
const servers: ChildProcess[] = []

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'botcli-packed-')))
  packages = join(project, 'node_modules')
  await install()
})
afterAll(async () => {
  for (const server of servers) {
    if (server.exitCode !== null) continue
    server.kill('SIGINT')
    await once(server, 'exit')
  }
  await rm(project, { recursive: true, force: true })
})

/** Packs what would be published, and unpacks it as an installer does. What others have written is borrowed. */
async function install(): Promise<void> {
  const own = (await readdir(join(ROOT, 'packages'))).flatMap((name) => ['-w', `packages/${name}`])
  const archives = join(project, 'archives')
  await mkdir(archives)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', archives, ...own], {
    cwd: ROOT,
  })
  // Newer versions of npm give an object with the names as its keys.
  const packed = Object.values(JSON.parse(stdout) as Record<string, { name: string; filename: string }>)
  expect(packed.map(({ name }) => name)).toEqual(expect.arrayContaining(['botcli', '@botcli/runner']))
  for (const { name, filename } of packed) {
    const folder = join(packages, name)
    await mkdir(folder, { recursive: true })
    await run('tar', ['-xzf', join(archives, filename), '-C', folder, '--strip-components=1'])
  }
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name.startsWith('.') || name === 'botcli' || name === '@botcli') continue
    await symlink(join(ROOT, 'node_modules', name), join(packages, name))
  }
}

/** Starts a server of the packed command; gives its address, and what it says. */
async function start(argv: readonly string[]): Promise<{ url: string; lines: readonly string[] }> {
  const lines: string[] = []
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: join(project, 'config'),
    XDG_DATA_HOME: join(project, 'data'),
  }
  const server = spawn(process.execPath, [join(packages, 'botcli/bin/botcli.js'), ...argv], {
    cwd: project,
    env,
  })
  servers.push(server)
  for (const stream of [server.stdout, server.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line))
  }
  const ready = await until(() => lines.find((line) => line.includes('"ready"')), `${argv[0]} to be ready`)
  const { url } = JSON.parse(ready) as { url: string }
  return { url, lines }
}

it('carries the Python package, which runs a bot in a project that has not installed it', async () => {
  await cp(join(ROOT, 'examples/echo-python/bot.py'), join(project, 'echo.py'))
  await writeFile(
    join(project, 'bot.py'),
    `import botcli, echo\nasync def bot(args):\n    print("from", botcli.__file__)\n    await echo.bot(args)\n`,
  )
  const botcli = join(packages, 'botcli/bin/botcli.js')
  const { url, lines } = await start(['run', '--port', '0'])
  const { stdout } = await run(process.execPath, [botcli, 'call', url, '--speech', '1s'], { cwd: project })
  expect(stdout).toContain('The bot was heard')
  const carried = join(packages, '@botcli/runner/dist/python')
  expect(lines.join('\n')).toContain(`from ${join(carried, 'botcli/__init__.py')}`)
})

it('carries the wheel, of the same version', async () => {
  const { version } = JSON.parse(await readFile(join(packages, 'botcli/package.json'), 'utf8')) as {
    version: string
  }
  const find = `import { findPythonWheel } from '@botcli/runner'; console.log(findPythonWheel())`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', find], { cwd: project })
  const wheel = join(packages, `@botcli/runner/dist/python/botcli-${version}-py3-none-any.whl`)
  expect(stdout.trim()).toBe(wheel)
  expect((await readFile(wheel)).subarray(0, 2).toString()).toBe('PK')
  // What the package's own page tells people to write.
  expect(await readFile(join(ROOT, 'python/README.md'), 'utf8')).toContain(`/${basename(wheel)}"`)
})

it('runs a cloud, with its page', async () => {
  const { url } = await start(['cloud', '--port', '0'])
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok' })
  const page = await (await fetch(url)).text()
  const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page) ?? []
  expect((await fetch(new URL(script, url))).headers.get('content-type')).toContain('javascript')
})

it('makes projects, with the templates and the wheel that it carries', async () => {
  const botcli = join(packages, 'botcli/bin/botcli.js')
  await run(process.execPath, [botcli, 'init', 'quickstart'], { cwd: project })
  const client = ['--client-framework', 'vanilla', '--client-server', 'vite']
  const services = ['--stt', 'deepgram_stt', '--llm', 'openai_llm', '--tts', 'cartesia_tts']
  const options = ['-b', 'web', '-t', 'webrtc', '-m', 'cascade', ...services, ...client]
  await run(process.execPath, [botcli, 'init', 'with-page', ...options], { cwd: project })
  const [wheel] = await readdir(join(project, 'bot-quickstart/server/wheels'))
  expect(wheel).toMatch(/^botcli-.*\.whl$/)
  expect(await readdir(join(project, 'with-page/client'))).toEqual(
    expect.arrayContaining(['package.json', 'package-lock.json', 'index.html', '.gitignore']),
  )
  const { stdout } = await run(process.execPath, [botcli, 'init', '--list-options'], { cwd: project })
  expect(JSON.parse(stdout)).toHaveProperty('transports.web', ['room', 'webrtc', 'websocket'])
})

it('carries no code but what the last build has made', async () => {
  const built = await readdir(join(packages, 'botcli/dist'))
  expect(built.filter((name) => !/\.js(\.map)?$/.test(name))).toEqual([])
  const texts = await Promise.all(
    built
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFile(join(packages, 'botcli/dist', name), 'utf8')),
  )
  const imported = texts.flatMap((text) => [...text.matchAll(/"\.\/([\w.-]+\.js)"/g)].map(([, name]) => name))
  const reachable = new Set(['main.js', ...imported])
  expect(built.filter((name) => name.endsWith('.js')).toSorted()).toEqual([...reachable].toSorted())
})

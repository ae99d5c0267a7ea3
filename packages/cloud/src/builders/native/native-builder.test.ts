import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { wheel, wheelFile } from '../../testing/wheel.ts'
import { Workbench } from '../../testing/workbench.ts'
import { findLimiter } from '../limits/find-limiter.ts'
import type { Limiter } from '../limits/limiter.ts'
import { readBundle } from './bundle.ts'
import { NativeBuilder } from './native-builder.ts'
import { findTools } from './tools.ts'

const run = promisify(execFile)
// Each way to install has its own tests; these are with what every Python has.
const tools = { ...(await findTools()), uv: undefined }
const limiter = await findLimiter()

let bench: Workbench
let builder: NativeBuilder

async function open(
  files: Readonly<Record<string, string | Uint8Array>>,
  by: Limiter = limiter,
): Promise<void> {
  bench = await Workbench.open(files)
  builder = new NativeBuilder({ tools, limiter: by, bundles: bench.bundles, hide: [] })
}

afterEach(async () => {
  await bench.close()
})

const DOCKERFILE = `FROM node:22 AS runner
RUN npm install --global botcli
FROM python:3.12
COPY --from=runner /opt /opt
ENV PATH="/opt:$PATH" MODE=voice
WORKDIR /app
COPY requirements.txt ./
COPY wheels ./wheels
RUN pip install --no-cache-dir --no-index -r requirements.txt
COPY . .
RUN useradd bot && chown bot /app
CMD ["botcli", "run", "bot.py", "--port", "7860"]
`
const PYTHON = {
  Dockerfile: DOCKERFILE,
  'requirements.txt': `./wheels/${wheelFile('greeter')}\n`,
  [`wheels/${wheelFile('greeter')}`]: wheel(
    'greeter',
    { 'greeter.py': 'def main():\n    print("hello from a script")\n' },
    'greet = greeter:main',
  ),
  'bot.py':
    'import asyncio\nimport greeter\nimport botcli\nfrom tools import wave\n\nasync def bot(args):\n    import never_there\n',
  'tools.py':
    'import json\ntry:\n    import rocket\nexcept ImportError:\n    rocket = None\n\ndef wave():\n    pass\n',
}

const why = 'missing' in tools.python ? ` (not tried: ${tools.python.missing})` : ''

describe.skipIf(why !== '')(`a project in Python${why}`, () => {
  it('becomes a bundle that runs wherever it lies, and the log says what was not done', async () => {
    await open(PYTHON)
    const result = await bench.build(builder)
    expect(bench.log.text).toContain('2 files of the bot: syntax is right and imports are installed')
    expect(result).toEqual({
      ok: true,
      imageUri: `bundle:${bench.buildId}`,
      imageSizeBytes: expect.any(Number),
      bases: [],
    })
    const manifest = await readBundle(bench.output)
    expect(manifest).toMatchObject({
      language: 'python',
      entry: 'app/bot.py',
      workdir: 'app',
      command: ['botcli', 'run', 'bot.py', '--port', '7860'],
      env: { MODE: 'voice' },
      node: null,
    })
    for (const line of [
      'line 1: not used: the base image node:22',
      'line 2: not needed, for the runner brings it: npm install --global botcli',
      'line 11: not run: useradd bot',
      'line 11: not run: chown bot /app',
      '1 line of Dockerfile was not run; it is named above',
    ])
      expect(bench.log.text).toContain(`${line}\n`)
    expect(bench.log.text).toContain('$ pip install --no-cache-dir --no-index -r requirements.txt')
    expect(await bench.leftovers()).toEqual([bench.buildId])
    const moved = join(bench.folder, 'elsewhere with a space')
    await rename(bench.output, moved)
    const { stdout } = await run(join(moved, manifest.python?.path ?? ''), [
      '-c',
      'import greeter; print(greeter.__file__)',
    ])
    expect(stdout.trim().startsWith(moved)).toBe(true)
    expect((await run(join(moved, 'venv/bin/greet'))).stdout).toBe('hello from a script\n')
    await rename(moved, bench.output)
    await builder.remove('bundle:../context')
    await builder.remove('other:thing')
    expect(existsSync(join(bench.folder, 'context/bot.py'))).toBe(true)
    await builder.remove(`bundle:${bench.buildId}`)
    expect(await readdir(bench.bundles)).toEqual([])
  })

  it('fails where a dependency is missing from the requirements', async () => {
    await open({
      ...PYTHON,
      'tools.py': 'import os\nimport aiohttp_missing.web\n',
      'bot.py': 'import greeter\nimport tools\n',
    })
    expect(await bench.build(builder)).toEqual({
      ok: false,
      message: "tools.py:2: ModuleNotFoundError: No module named 'aiohttp_missing'",
      failure: {
        code: 'dependency_missing',
        step: 'RUN pip install --no-cache-dir --no-index -r requirements.txt',
        line: 9,
        hint: 'Add the package that has aiohttp_missing to requirements.txt. If it is a module of your own, its file was not sent (see .dockerignore) or not copied (see COPY).',
      },
    })
    expect(bench.log.text).toContain("tools.py:2: ModuleNotFoundError: No module named 'aiohttp_missing'")
    expect(await bench.leftovers()).toEqual([])
  })

  it('says how a package comes in where nothing names packages', async () => {
    await open({
      Dockerfile: 'FROM a\nCOPY bot.py ./\nCMD ["python", "bot.py"]\n',
      'bot.py': 'import nopackage_x\n',
    })
    expect(await bench.build(builder)).toMatchObject({
      failure: {
        code: 'dependency_missing',
        hint: expect.stringMatching(
          /nopackage_x in requirements\.txt, let \.dockerignore send .* COPY and install/,
        ),
      },
    })
  })

  it('fails where a module of its own was not sent', async () => {
    await open({
      Dockerfile: 'FROM a\nCOPY . .\nCMD ["python", "-m", "bots.main"]\n',
      'bots/__init__.py': 'here = 1\n',
      'bots/main.py': 'from . import here, tools\nfrom .parts import a\nfrom .nope.deep import b\n',
      'bots/tools.py': '',
      'bots/parts/__init__.py': 'a = 1\n',
    })
    expect(await bench.build(builder)).toMatchObject({
      message: "bots/main.py:3: ModuleNotFoundError: No module named '.nope.deep'",
      failure: { code: 'dependency_missing', hint: expect.stringContaining('was not sent') },
    })
  })

  it('fails on a slip in an installation, and names the right word', async () => {
    await open({ ...PYTHON, Dockerfile: DOCKERFILE.replace('pip install', 'pip instal') })
    expect(await bench.build(builder)).toMatchObject({
      message: 'pip instal --no-cache-dir --no-index -r requirements.txt: there is no such command',
      failure: { code: 'install_failed', line: 9, hint: 'Did you mean install?' },
    })
  })

  it('warns where there is no bot for botcli run, and says how many lines were not run', async () => {
    const Dockerfile =
      'FROM a\nCOPY . .\nRUN useradd x && chown x /x\nRUN make\nCMD ["botcli", "run", "bot.py"]\n'
    await open({ Dockerfile, 'bot.py': 'async def bots(args):\n    bot = 1\n' })
    expect(await bench.build(builder)).toMatchObject({ ok: true })
    expect(bench.log.text).toContain('warning: bot.py has nothing named bot at its top')
    expect(bench.log.text).toContain('2 lines of Dockerfile were not run; they are named above')
  })

  it('fails on a wrong line of the container build file', async () => {
    await open({ ...PYTHON, Dockerfile: DOCKERFILE.replace('COPY wheels', 'COPPY wheels') })
    expect(await bench.build(builder)).toMatchObject({
      message: 'Dockerfile:8: unknown instruction: COPPY',
      failure: { code: 'dockerfile_syntax', step: 'COPPY wheels ./wheels', line: 8 },
    })
    expect(bench.log.text).toContain('   8 | >>> COPPY wheels ./wheels')
    expect(await bench.leftovers()).toEqual([])
  })

  it('fails where an installation fails', async () => {
    await open({ ...PYTHON, 'requirements.txt': 'no-such-package-of-anybody\n' })
    const result = await bench.build(builder)
    expect(result).toMatchObject({
      message: 'ERROR: No matching distribution found for no-such-package-of-anybody',
      failure: { code: 'install_failed', step: expect.stringMatching(/^RUN pip install/), line: 9 },
    })
    expect(bench.log.text).toContain('ERROR: No matching distribution found for no-such-package-of-anybody')
    expect(await bench.leftovers()).toEqual([])
  })

  it('fails where a file to copy is missing', async () => {
    const { 'requirements.txt': _, ...others } = PYTHON
    await open(others)
    expect(await bench.build(builder)).toMatchObject({
      message: 'Dockerfile:7: requirements.txt is not in the context',
      failure: { code: 'copy_source_missing', step: 'COPY requirements.txt ./', line: 7 },
    })
    expect(bench.log.text).toContain('Dockerfile:7: requirements.txt is not in the context')
    expect(await bench.leftovers()).toEqual([])
  })

  it('fails where the requirements are not copied before they are installed', async () => {
    const file = DOCKERFILE.replace('COPY requirements.txt ./\n', '').replace('COPY wheels ./wheels\n', '')
    await open({ ...PYTHON, Dockerfile: file })
    expect(await bench.build(builder)).toMatchObject({ failure: { code: 'install_failed', line: 7 } })
  })

  it('fails on a wrong line of the bot', async () => {
    await open({ ...PYTHON, 'bot.py': 'import greeter\n\nasync def bot(args)\n    pass\n' })
    expect(await bench.build(builder)).toMatchObject({
      message: "bot.py:3: SyntaxError: expected ':'",
      failure: { code: 'command_failed', hint: 'Correct the code.' },
    })
  })

  it('fails where CMD names a file that is not there', async () => {
    await open({ ...PYTHON, Dockerfile: DOCKERFILE.replace('"bot.py"', '"main.py"') })
    expect(await bench.build(builder)).toMatchObject({
      message: 'main.py, which CMD names, is not there',
      failure: { step: expect.stringMatching(/^CMD/), line: 12 },
    })
  })

  it('ends at once when it is cancelled, and leaves nothing', async () => {
    await open({ ...PYTHON, ...SLOW })
    const controller = new AbortController()
    bench.log.onOutput = (text) => {
      if (text.includes('Processing ./package')) controller.abort()
    }
    expect(await bench.build(builder, { signal: controller.signal })).toMatchObject({
      message: 'the build was cancelled',
      failure: { code: 'cancelled' },
    })
    expect(await bench.leftovers()).toEqual([])
  })

  it.skipIf(!limiter.hasSandbox)('sees nothing of what is hidden, and writes nowhere else', async () => {
    await open({ ...PYTHON, ...SLOW })
    const seen = [join(bench.folder, 'context/bot.py'), join(bench.folder, 'secret')]
    await writeFile(join(bench.folder, 'secret'), 'x')
    const code = [
      'import os, sys',
      `print("seen", [os.path.exists(path) for path in ${JSON.stringify(seen)}], os.getpid() < 50)`,
      'try:',
      `    open(${JSON.stringify(seen[0])}, "a")`,
      'except OSError as error:',
      '    print("refused", error.strerror)',
      'sys.exit(3)',
    ]
    await writeFile(join(bench.folder, 'context/package/backend.py'), code.join('\n'))
    const hidden = new NativeBuilder({ tools, limiter, bundles: bench.bundles, hide: [bench.folder] })
    expect(await bench.build(hidden)).toMatchObject({ failure: { code: 'install_failed', line: 9 } })
    expect(bench.log.text).toContain('seen [True, False] True')
    expect(bench.log.text).toContain('refused Read-only file system')
  })

  it('ends when its time is up', async () => {
    await open({ ...PYTHON, ...SLOW })
    expect(await bench.build(builder, { limits: { seconds: 0.2 } })).toMatchObject({
      timedOut: true,
      message: 'the build took longer than 0.2 seconds',
    })
    expect(await bench.leftovers()).toEqual([])
  })

  it('ends when it takes too much memory', async () => {
    const hog = 'a = []\nwhile True:\n    a.append(bytearray(10_000_000))\n'
    await open({ ...PYTHON, ...SLOW, 'package/backend.py': hog })
    const result = await bench.build(builder, { limits: { memoryBytes: 200 * 1024 * 1024 } })
    expect(result).toMatchObject({ ok: false, failure: { code: 'out_of_memory', line: 9 } })
    expect(await bench.leftovers()).toEqual([])
  })

  it('ends when it takes too much disk', async () => {
    const hog =
      'import time\nfor i in range(1000):\n    open(f"/tmp/../{__file__}.{i}", "wb").write(bytes(1_000_000))\n    time.sleep(0.01)\n'
    await open({ ...PYTHON, ...SLOW, 'package/backend.py': hog })
    const result = await bench.build(builder, { limits: { diskBytes: 60 * 1024 * 1024 } })
    expect(result).toMatchObject({ ok: false, failure: { code: 'out_of_disk' } })
    expect(await bench.leftovers()).toEqual([])
  })
})

const BACKEND = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
const SLOW = {
  Dockerfile: DOCKERFILE.replace('COPY wheels ./wheels', 'COPY package ./package').replace(
    '-r requirements.txt',
    '--no-build-isolation ./package',
  ),
  'package/pyproject.toml': BACKEND,
  'package/backend.py': 'import time\ntime.sleep(600)\n',
}

import { describe, expect, it } from 'vitest'
import { aborted, classify, isInstall } from './classify.ts'
import { OutputTail } from './output-tail.ts'

const RUN = { text: 'RUN node bot.mjs', line: 4 }
const PIP = { text: 'RUN pip install -r requirements.txt', line: 3 }
const NPM = { text: 'RUN npm ci', line: 3 }

/** Real output of the tools, cut to what matters. */
const CASES: readonly (readonly [string, { text: string; line: number }, number, string, string, RegExp])[] =
  [
    [
      'pip: no such package',
      PIP,
      1,
      `Looking in links: /wheels\nERROR: Could not find a version that satisfies the requirement nope (from versions: none)\nERROR: No matching distribution found for nope\n\n[notice] A new release of pip is available`,
      'install_failed ERROR: No matching distribution found for nope',
      /no package nope/,
    ],
    [
      'pip: file not copied',
      PIP,
      1,
      "ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'requirements.txt'",
      "install_failed ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'requirements.txt'",
      /requirements\.txt is not there: COPY it/,
    ],
    [
      'pip: a build of a package that misses a module',
      PIP,
      1,
      "Getting requirements to build wheel: finished with status 'error'\nModuleNotFoundError: No module named 'setuptools'",
      "install_failed ModuleNotFoundError: No module named 'setuptools'",
      /setuptools/,
    ],
    [
      'uv: no such package',
      { text: 'RUN uv sync --frozen', line: 2 },
      1,
      '  × No solution found when resolving dependencies:\n  ╰─▶ Because nope-xyz was not found in the package registry and your project depends on nope-xyz, we can conclude',
      'install_failed ╰─▶ Because nope-xyz was not found in the package registry and your project depends on nope-xyz, we can conclude',
      /no package nope-xyz/,
    ],
    [
      'uv: a cause of a cause',
      { text: 'RUN uv sync --frozen', line: 2 },
      1,
      'error: Failed to fetch\n  Caused by: Could not connect\n  Caused by: dns error: failed to lookup address',
      'install_failed dns error: failed to lookup address',
      /does not reach the package registry/,
    ],
    [
      'buildah: a program that cannot be run',
      { text: 'RUN ["/x"]', line: 4 },
      1,
      'STEP 4/4: RUN ["/x"]\nprocess failed to start with error: fork/exec /x: permission deniedprocess exited with error: exec: not startedsubprocess exited with status 1\nError: building at STEP "RUN /x": exit status 1',
      'command_failed fork/exec /x: permission denied',
      /cannot run \/x: .*chmod \+x/,
    ],
    [
      'npm: a script of the project',
      NPM,
      1,
      '> x@1.0.0 postinstall\n> echo boom >&2; exit 3\n\nboom\nnpm error code 3\nnpm error path /app\nnpm error command failed\nnpm error command sh -c echo boom >&2; exit 3\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log',
      'install_failed npm error command sh -c echo boom >&2; exit 3',
      /script, which npm runs for a package, failed: echo boom >&2; exit 3\./,
    ],
    [
      'npm: a script of a package',
      NPM,
      1,
      'npm error code 1\nnpm error path /app/node_modules/dep\nnpm error command failed\nnpm error command sh -c node x.js\nnpm error [eval]:1\nnpm error throw new Error(1234)\nnpm error ^\nnpm error\nnpm error Error: 1234\nnpm error     at [eval]:1:7\nnpm error\nnpm error Node.js v20.20.2\nnpm error A complete log of this run can be found in: x.log',
      'install_failed npm error Error: 1234',
      /A script that npm runs for a package failed/,
    ],
    [
      'npm: no such package',
      NPM,
      1,
      "npm error code E404\nnpm error 404 Not Found - GET https://example.com/nope\nnpm error 404\nnpm error 404  'nope@^1.0.0' is not in this registry.\nnpm error 404\nnpm error 404 Note that you can also install from a\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log",
      "install_failed npm error 404  'nope@^1.0.0' is not in this registry.",
      /no package nope@/,
    ],
    [
      'npm: no such package, or none for us',
      NPM,
      1,
      "npm error code E404\nnpm error 404 Not Found - GET https://example.com/@a%2fnope\nnpm error 404\nnpm error 404  The requested resource '@a/nope@0.1.0' could not be found or you do not have permission to access it.\nnpm error 404\nnpm error 404 Note that you can also install from a",
      "install_failed npm error 404  The requested resource '@a/nope@0.1.0' could not be found or you do not have permission to access it.",
      /no package @a\/nope@0\.1\.0\./,
    ],
    [
      'npm: the lock does not fit',
      NPM,
      1,
      'npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.\nnpm error\nnpm error Missing: left-pad@1.3.0 from lock file\nnpm error',
      'install_failed npm error Missing: left-pad@1.3.0 from lock file',
      /package-lock\.json does not fit/,
    ],
    [
      'apt',
      { text: 'RUN apt-get update && apt-get install -y ffmpg', line: 2 },
      100,
      'Reading package lists...\nE: Unable to locate package ffmpg',
      'install_failed E: Unable to locate package ffmpg',
      /apt-get update/,
    ],
    [
      'no such command',
      PIP,
      127,
      '/bin/sh: 1: pip: not found',
      'install_failed /bin/sh: 1: pip: not found',
      /no command pip/,
    ],
    [
      'no such command, not an install',
      RUN,
      127,
      '/bin/sh: node: not found',
      'command_failed /bin/sh: node: not found',
      /no command node/,
    ],
    [
      'node: a package is missing',
      RUN,
      1,
      "node:internal/modules/esm/resolve:873\n  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);\nError [ERR_MODULE_NOT_FOUND]: Cannot find package '@fastify/cors' imported from /app/bot.mjs\n    at packageResolve\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2",
      "dependency_missing Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@fastify/cors' imported from /app/bot.mjs",
      /Add @fastify\/cors to/,
    ],
    [
      'node: a file is missing',
      RUN,
      1,
      "Error: Cannot find module '/app/dist/index.js'",
      "command_failed Error: Cannot find module '/app/dist/index.js'",
      /dist\/index\.js is not there/,
    ],
    [
      'python: a module is missing',
      { text: 'RUN python -c "import bot"', line: 5 },
      1,
      'Traceback (most recent call last):\n  File "/app/bot.py", line 1, in <module>\n    import aiohttp\nModuleNotFoundError: No module named \'aiohttp\'',
      "dependency_missing ModuleNotFoundError: No module named 'aiohttp'",
      /Add the package that has aiohttp to requirements\.txt/,
    ],
    [
      'node: heap',
      RUN,
      134,
      'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\nAborted',
      'out_of_memory FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
      /memory/,
    ],
    [
      'no space',
      NPM,
      1,
      'npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write',
      'out_of_disk npm error nospc ENOSPC: no space left on device, write',
      /disk/,
    ],
    [
      'anything else',
      RUN,
      3,
      'step one\nsomething could not be done\nbye',
      'command_failed something could not be done',
      /status 3/,
    ],
    ['nothing at all', RUN, 3, '', 'command_failed the command ended with status 3', /status 3/],
  ]

describe('the telling line of', () => {
  it.each(CASES)('%s', (_, step, status, output, expected, hint) => {
    const tail = new OutputTail({ write: () => {}, say: () => {} })
    tail.write(output)
    const { message, failure } = classify({ lines: tail.lines, status, step })
    expect(`${failure.code} ${message}`).toBe(expected)
    expect(failure.hint).toMatch(hint)
    expect(failure).toMatchObject({ step: step.text, line: step.line })
  })

  it('the engine is not believed when a command said it', () => {
    const lines = ['COPY failed: this is a test of mine', 'assertion failed']
    expect(classify({ lines, status: 1, step: RUN, except: ['copy_source_missing'] }).failure.code).toBe(
      'command_failed',
    )
    expect(classify({ lines, status: 1, step: undefined }).failure.code).toBe('copy_source_missing')
  })
})

it('names the file that the project has', () => {
  const lines = ["ModuleNotFoundError: No module named 'aiohttp'"]
  const hint = (requirements?: string) => classify({ lines, status: 1, step: RUN, requirements }).failure.hint
  expect(hint('pyproject.toml')).toBe(
    'Add the package that has aiohttp to pyproject.toml. If it is a module of your own, its file was not sent (see .dockerignore) or not copied (see COPY).',
  )
  expect(hint()).toContain('requirements.txt or pyproject.toml')
})

it('knows what installs', () => {
  for (const text of [
    'RUN apt-get update && apt-get -y install x',
    'RUN uv sync',
    'RUN python -m pip install x',
    'RUN pnpm i',
  ])
    expect(isInstall(text)).toBe(true)
  for (const text of ['RUN node install.js', 'RUN npm run build', 'RUN echo pip'])
    expect(isInstall(text)).toBe(false)
})

it('tells the end of time from a cancellation', async () => {
  const signal = AbortSignal.timeout(1)
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  expect(aborted(signal)).toMatchObject({ timedOut: true })
  expect(aborted(AbortSignal.abort())).toMatchObject({ failure: { code: 'cancelled' } })
  expect(aborted(AbortSignal.abort())).not.toHaveProperty('timedOut')
})

it('keeps a bounded tail, without colours and rewritten progress, whole over any cut', () => {
  const passed: string[] = []
  const tail = new OutputTail({ write: (bytes) => void passed.push(String(bytes)), say: () => {} })
  for (const byte of Buffer.from('\u001b[31mré\u001b[0md\n10%\r20%\r100%\n')) tail.write(Uint8Array.of(byte))
  expect(tail.lines).toEqual(['réd', '100%'])
  for (let i = 0; i < 1000; i += 1) tail.write(`line ${i}\n`)
  expect(tail.lines).toHaveLength(400)
  expect(tail.lines.at(-1)).toBe('line 999')
  expect(passed.length).toBeGreaterThan(1000)
})

it('takes no time for lines that are nearly what it looks for, again and again', () => {
  const lines = Array.from({ length: 200 }, () => 'fork: '.repeat(680))
  expect(classify({ lines, status: 1, step: RUN }).failure.code).toBe('command_failed')
})

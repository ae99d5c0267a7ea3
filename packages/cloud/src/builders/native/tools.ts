import { realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { askProgram } from '../ask-program.ts'

/** What the native builder found on this machine. */
export interface NativeTools {
  /** A Python from 3.11 on, that can make virtual environments. */
  readonly python:
    | { readonly path: string; readonly version: string; readonly home: string }
    | { readonly missing: string }
  readonly uv: { readonly path: string; readonly version: string } | undefined
  readonly npm: { readonly path: string; readonly version: string } | undefined
}

const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python']
const ASK_PYTHON =
  'import sys, venv, ensurepip; b = getattr(sys, "_base_executable", None) or sys.executable; print(b); print("%d.%d.%d" % sys.version_info[:3]); print(sys.base_prefix); sys.exit(sys.version_info < (3, 11))'

/** Looks for Python, uv and npm on the PATH. */
export async function findTools(): Promise<NativeTools> {
  const [python, uv, npm] = await Promise.all([findPython(), findUv(), findNpm()])
  return { python, uv, npm }
}

async function findPython(): Promise<NativeTools['python']> {
  const seen: string[] = []
  for (const name of PYTHONS) {
    const answer = await askProgram([name, '-c', ASK_PYTHON])
    if (answer.status === undefined) continue
    const [path = '', version = '', home = ''] = answer.stdout.split('\n')
    if (answer.status === 0) return { path, version, home }
    seen.push(
      version === ''
        ? `${name} has no venv or ensurepip (on Debian: apt-get install python3-venv)`
        : `${name} is ${version}`,
    )
  }
  const found = seen.length === 0 ? 'none was found' : seen.join(', ')
  return { missing: `Python 3.11 or newer with venv is needed, but ${found}` }
}

async function findUv(): Promise<NativeTools['uv']> {
  const answer = await askProgram(['uv', '--version'])
  if (answer.status !== 0) return undefined
  return { path: await which('uv'), version: answer.stdout.trim().split(' ')[1] ?? '' }
}

async function findNpm(): Promise<NativeTools['npm']> {
  const answer = await askProgram(['npm', '--version'])
  if (answer.status !== 0) return undefined
  return { path: await which('npm'), version: answer.stdout.trim() }
}

/** The folders that tools are read from, even if they lie in somebody's home. */
export function toolFolders({ python, uv, npm }: NativeTools): readonly string[] {
  return [
    ...('home' in python ? [python.home] : []),
    ...(uv === undefined ? [] : [uv.path]),
    // A file in <prefix>/lib/node_modules/npm/bin.
    ...(npm === undefined ? [] : [dirname(dirname(npm.path))]),
    process.execPath,
  ]
}

/** Variables of this machine that installers need to find their way out. Nothing else of ours is passed on. */
const PASSED = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'],
  ...[
    'PIP_INDEX_URL',
    'PIP_EXTRA_INDEX_URL',
    'PIP_FIND_LINKS',
    'PIP_NO_INDEX',
    'PIP_CERT',
    'PIP_TRUSTED_HOST',
  ],
  ...['UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_FIND_LINKS', 'UV_NATIVE_TLS'],
  ...['npm_config_registry', 'NPM_CONFIG_REGISTRY', 'npm_config_cafile'],
]
/** Variables of a project that would lead an installer out of its bundle. */
const REFUSED =
  /^(?:PATH|HOME|TMPDIR|LD_.*|NODE_OPTIONS|PYTHONHOME|VIRTUAL_ENV|UV_PROJECT_ENVIRONMENT|UV_CACHE_DIR|UV_SYSTEM_PYTHON|PIP_TARGET|PIP_PREFIX|PIP_USER|PIP_ROOT)$/

/** The environment of a command of a build. Caches are the build's own, so that no build can put anything into another's. */
export function buildEnvironment(
  scratch: string,
  tools: NativeTools,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const cache = join(scratch, 'cache')
  const folders = [dirname(process.execPath), ...('path' in tools.python ? [dirname(tools.python.path)] : [])]
  return {
    ...Object.fromEntries(
      PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
    ),
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !REFUSED.test(name))),
    PATH: [...new Set([...folders, ...(process.env.PATH ?? '').split(delimiter)])].join(delimiter),
    HOME: join(scratch, 'home'),
    TMPDIR: join(scratch, 'tmp'),
    LANG: 'C.UTF-8',
    CI: '1',
    NO_COLOR: '1',
    PYTHONUNBUFFERED: '1',
    PIP_CACHE_DIR: join(cache, 'pip'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    UV_CACHE_DIR: join(cache, 'uv'),
    UV_NO_PROGRESS: '1',
    npm_config_cache: join(cache, 'npm'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    npm_config_progress: 'false',
  }
}

async function which(name: string): Promise<string> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = await realpath(join(folder, name)).catch(() => undefined)
    if (path !== undefined) return path
  }
  return name
}

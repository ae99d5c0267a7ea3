import { existsSync } from 'node:fs'
import { mkdir, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { BundleManifest } from '../../builders/native/bundle.ts'
import { INSIDE } from '../inside.ts'
import type { Variables } from '../instance-environment.ts'
import type { InstanceFolder } from '../instance-folder.ts'

/** Programs and libraries of the machine. */
const PROGRAMS = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
  ...['/opt', '/nix/store', '/gnu/store', '/sys'],
]
/** What programs look up there. Keys and passwords are in none of these. */
const SETTINGS = [
  ...[
    'resolv.conf',
    'hosts',
    'host.conf',
    'nsswitch.conf',
    'gai.conf',
    'services',
    'protocols',
    'mime.types',
  ],
  ...['passwd', 'group', 'localtime', 'timezone', 'locale.conf', 'os-release', 'machine-id'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'fonts'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'pki/tls/certs', 'pki/ca-trust', 'static'],
].map((name) => `/etc/${name}`)
/** Where `resolv.conf` leads to. */
const NAMES = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager/resolv.conf']

/** What is put into a sandbox. */
export interface SandboxedBundle {
  readonly bundle: string
  readonly manifest: BundleManifest
  readonly folder: InstanceFolder
  /** The command that starts `botcli`. */
  readonly runner: readonly string[]
  readonly dataFolder: string
  /** Variables that bubblewrap itself must not have: they are the bot's, and may be meant to change how programs are loaded. */
  readonly env: Variables
}

/**
 * The arguments of bubblewrap for an instance. It sees the programs of the machine, the runner, its bundle, and its own folder; nothing of
 * anybody's home, of the data folder, or of the sockets in `/run`. It can write its journal, and a home and a `/tmp` of its own.
 * The network is that of the machine: calls come by it. It outlives whoever has started it.
 */
export async function sandboxArguments(options: SandboxedBundle): Promise<readonly string[]> {
  const { bundle, manifest, folder, env } = options
  const views = await viewsOf(options)
  const compiled = join(bundle, dirname(manifest.entry), '.botcli')
  // What it compiles a bot to is its own: runners tell each other apart by process ids, and here all have the same.
  await mkdir(compiled, { recursive: true })
  return [
    ...['--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL', '--json-status-fd', '3'],
    ...[...PROGRAMS, ...SETTINGS].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--bind', folder.temporary, '/tmp'],
    ...['--symlink', '../run', '/var/run', '--symlink', '../tmp', '/var/tmp'],
    ...NAMES.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--bind', folder.home, homedir()],
    ...views,
    ...['--bind', folder.compiled, compiled],
    ...['--ro-bind', folder.settings, INSIDE.settings],
    ...['--bind', folder.journal, INSIDE.journal, '--bind', folder.door, INSIDE.door],
    ...['--unsetenv', 'TMPDIR', '--setenv', 'HOME', homedir()],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', join(bundle, manifest.workdir)],
  ]
}

/** The program that runs it, and the folder from which its script finds its packages: the topmost one that has some, below the home. */
async function runnerFolders(runner: readonly string[]): Promise<readonly string[]> {
  const [program = '', script] = runner
  if (script === undefined) return [program]
  const real = await realpath(script).catch(() => script)
  let found = dirname(real)
  for (let path = found; !contains(path, homedir()) && dirname(path) !== path; path = dirname(path))
    if (basename(path) === 'node_modules' || existsSync(join(path, 'node_modules'))) found = path
  return [program, found]
}

/** The Python that the bundle's own one is made of. */
async function pythonFolders({ python }: BundleManifest): Promise<readonly string[]> {
  if (python === null) return []
  return [dirname(python.base), dirname(dirname(await realpath(python.base)))]
}

/** What is shown beside the machine's own programs. The data folder may lie in a folder that is shown, and is hidden there. */
async function viewsOf(options: SandboxedBundle): Promise<readonly string[]> {
  const { bundle, runner, manifest, dataFolder } = options
  const wanted = [bundle, ...(await runnerFolders(runner)), ...(await pythonFolders(manifest))]
  const shown = [...new Set(wanted)].filter(
    (path) =>
      existsSync(path) && !contains(path, homedir()) && !PROGRAMS.some((folder) => contains(folder, path)),
  )
  const hidden = shown.some((path) => contains(path, dataFolder)) ? [dataFolder] : []
  // The deeper one counts, so it comes later.
  return [...shown, ...hidden]
    .sort((a, b) => a.length - b.length)
    .flatMap((path) => (hidden.includes(path) ? ['--tmpfs', path] : ['--ro-bind', path, path]))
}

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}

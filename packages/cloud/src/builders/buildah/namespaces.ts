import { askProgram } from '../ask-program.ts'

/** What gives a command its own processes, mounts and shared memory. They end with it. */
const UNSHARE = ['unshare', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']
// The shell stays, to take the place of the first process: it buries what loses its parent.
const SCRIPT = 'mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm || exit 125; "$@"; exit $?'

/** Whether commands can have namespaces of their own here. Without root, buildah makes what it needs by itself. */
export async function namespacesWork(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  return (await askProgram(inNamespaces(['true']))).status === 0
}

/** The command that runs another one in namespaces of its own, with the same output and status. */
export function inNamespaces(argv: readonly string[]): readonly string[] {
  return [...UNSHARE, 'sh', '-c', SCRIPT, 'sh', ...argv]
}

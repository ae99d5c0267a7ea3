/** What a command in a sandbox sees of the machine. */
export interface SandboxView {
  /** Folders that look empty. */
  readonly hide: readonly string[]
  /** Folders that can be read even inside of a hidden one. */
  readonly show: readonly string[]
  /** Folders that can be written. */
  readonly write: readonly string[]
}

/**
 * The command that runs another one in bubblewrap: its own processes, everything read-only but what is named, no capabilities. The
 * network stays, for packages come from there.
 */
export function sandboxed(bwrap: string, view: SandboxView, argv: readonly string[]): readonly string[] {
  return [
    bwrap,
    '--die-with-parent',
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...view.hide.flatMap((folder) => ['--tmpfs', folder]),
    ...view.show.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...view.write.flatMap((folder) => ['--bind', folder, folder]),
    '--',
    ...argv,
  ]
}

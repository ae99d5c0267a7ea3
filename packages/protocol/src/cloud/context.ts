/** One file or link of a build context, as it counts for the hash of the whole. */
export interface ContextEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string
  /** Only whether a file can be run is kept of its mode. */
  readonly kind: 'file' | 'executable' | 'link'
  readonly size: number
  /** sha256 of the bytes of a file, or of the target of a link, in hex. */
  readonly digest: string
}

/** The largest context, unpacked. */
export const MAX_CONTEXT_BYTES = 500 * 1024 * 1024
/** The most files, links and folders of a context. */
export const MAX_CONTEXT_ENTRIES = 50_000

/**
 * The canonical text of a context. Its sha256 is the context's hash, whoever packed it and when: times, owners, compression and the
 * order of entries do not count, nor do folders.
 */
export function contextManifest(entries: readonly ContextEntry[]): string {
  return entries
    .map(({ path, kind, size, digest }) => `${kind} ${size} ${digest} ${JSON.stringify(path)}\n`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('')
}

/** Files that are never sent and never kept, whatever an ignore file says: they hold secrets. */
export const SECRET_FILES: readonly RegExp[] = [
  /(?:^|\/)\.env(?:\.(?!example$|sample$|template$)[^/]*)?$/,
  /(?:^|\/)(?:id_(?:rsa|dsa|ecdsa|ed25519)|[^/]*\.(?:pem|key|p12|pfx|keystore))$/,
  /(?:^|\/)\.(?:npmrc|pypirc|netrc|git-credentials)$/,
  /(?:^|\/)\.(?:aws|ssh|gnupg)\//,
]

/** Whether a path is one of those. */
export function isSecretFile(path: string): boolean {
  return SECRET_FILES.some((pattern) => pattern.test(path))
}

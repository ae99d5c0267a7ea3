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
/** The longest path in a context, in characters. */
export const MAX_CONTEXT_PATH = 1024
/** The most parts of such a path. */
export const MAX_CONTEXT_DEPTH = 100

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

/**
 * Files that are never sent and never kept, whatever an ignore file says: they hold secrets by their names, in any case of letters. What is
 * public is not among them: templates such as `.env.example`, public keys (`.pub`), certificates (`.crt`, `.cer`).
 */
export const SECRET_FILES: readonly RegExp[] = [
  // Variables: .env, .env.local, .env-prod, .envrc, prod.env.
  /(?:^|\/)\.env(?:rc)?(?:[._~-](?!(?:[^/]*[._-])?(?:example|sample|template|dist)$)[^/]*)?$/i,
  /(?:^|\/)(?!(?:[^/]*[._-])?(?:example|sample|template|dist)\.env$)[^/]+\.env~?$/i,
  // Private keys, and stores of them.
  /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?![^/]*\.pub$)[^/]*$/i,
  /\.(?:pem|key|p8|p12|pfx|pkcs12|ppk|jks|keystore|kdbx)$/i,
  // What tools sign in with.
  /(?:^|\/)(?:[._]netrc|\.(?:npmrc|pypirc|git-credentials|dockercfg|pgpass|my\.cnf|htpasswd|vault-token|s3cfg|boto|terraformrc))$/i,
  /(?:^|\/)(?:pip\.conf|kubeconfig|service[-_]account[^/]*\.json|\.docker\/config\.json|\.kube\/config|\.streamlit\/secrets\.toml)$/i,
  /\.(?:tfstate[^/]*|tfvars(?:\.json)?)$/i,
  // Folders as a whole. The addresses in .git may have tokens in them.
  /(?:^|\/)\.(?:aws|azure|config\/gcloud|env\.d|git|gnupg|ssh)(?:\/|$)/i,
]

/** Whether a path is one of those; that of a folder ends with a slash. */
export function isSecretFile(path: string): boolean {
  return SECRET_FILES.some((pattern) => pattern.test(path))
}

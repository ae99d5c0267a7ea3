import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ANSWERS_FILE, isAnswers } from '../answers.ts'
import { GUIDE_FILES } from '../guide/rules.ts'
import type { PlannedFile } from '../plan.ts'
import { FORBIDDEN, NOTHING_THERE, unless } from './failure.ts'
import { fileFingerprint, fingerprint } from './fingerprint.ts'
import type { ProjectFolder } from './folder.ts'
import { mergeLines } from './merge-lines.ts'

/** One planned file beside what is on disk. */
export interface ComparedFile {
  readonly path: string
  /** `replace` is to write over what is there, `keep` to leave a guide as it is. */
  readonly status: 'create' | 'identical' | 'merge' | 'replace' | 'keep' | 'conflict'
  /** What will be there. */
  readonly bytes: Uint8Array
  /** Of `merge` and `replace`: what is there now. */
  readonly before?: string
  /** Of `merge` and `replace`: the permissions that stay. */
  readonly mode?: number
  /** Of a conflict: what is in the way. */
  readonly reason?: string
  /** Of a conflict: whether `--force` would overwrite what is there. */
  readonly overwritable?: boolean
}

/** A whole plan beside what is on disk. */
export interface Comparison {
  readonly folder: ProjectFolder
  readonly files: readonly ComparedFile[]
}

/** What may be written over. */
export interface ComparePolicy {
  /** `--force`: files that are in the way, guides excepted. */
  readonly force: boolean
  /** Guides that the user wants overwritten. */
  readonly replaceGuides: ReadonlySet<string>
}

/** Compares a plan with a folder. Nothing is changed. */
export async function compare(
  folder: ProjectFolder,
  files: readonly PlannedFile[],
  policy: ComparePolicy,
): Promise<Comparison> {
  const places = new Places(folder)
  const compared: ComparedFile[] = []
  for (const file of files) compared.push(await compareFile(places, file, policy))
  return { folder, files: compared }
}

/** The files that keep a comparison from being written. */
export function conflictsOf({ files }: Comparison): readonly ComparedFile[] {
  return files.filter(({ status }) => status === 'conflict')
}

/** The bytes of a planned file. */
export function bytesOf({ content, bytes }: PlannedFile): Uint8Array {
  return bytes ?? Buffer.from(content, 'utf8')
}

async function compareFile(places: Places, file: PlannedFile, policy: ComparePolicy): Promise<ComparedFile> {
  // What we may not even look at is in the way, too.
  const compared = await unless(FORBIDDEN, () => lookAt(places, file, policy))
  const { path } = file
  return compared ?? { path, status: 'conflict', bytes: bytesOf(file), reason: 'permission denied' }
}

async function lookAt(places: Places, file: PlannedFile, policy: ComparePolicy): Promise<ComparedFile> {
  const { path } = file
  const bytes = bytesOf(file)
  if (places.areNew) return { path, status: 'create', bytes }
  const obstacle = await places.obstacleTo(path)
  if (obstacle !== undefined) return { path, status: 'conflict', bytes, reason: obstacle }
  const place = places.at(path)
  const entry = await unless(NOTHING_THERE, () => lstat(place))
  if (entry === undefined) return { path, status: 'create', bytes }
  if (entry.isDirectory()) return { path, status: 'conflict', bytes, reason: 'a folder is there' }
  const target = entry.isSymbolicLink() ? await unless([...NOTHING_THERE, 'ELOOP'], () => stat(place)) : entry
  if (target !== undefined && !target.isFile()) {
    return { path, status: 'conflict', bytes, reason: 'something is there that is no file' }
  }
  const isIgnoreFile = basename(path) === '.gitignore'
  // Only what could be the same, or is to be understood, is worth reading.
  const isRead = target?.size === bytes.length || isIgnoreFile || path === ANSWERS_FILE
  const existing = isRead && target !== undefined ? await readFile(place) : undefined
  if (existing !== undefined && Buffer.compare(existing, bytes) === 0) {
    return { path, status: 'identical', bytes }
  }
  if (GUIDE_FILES.includes(path) && !policy.replaceGuides.has(path)) return { path, status: 'keep', bytes }
  const mode = target === undefined ? {} : { mode: target.mode & 0o777 }
  if (isIgnoreFile && existing !== undefined && (policy.force || !entry.isSymbolicLink())) {
    const merged = mergeLines(existing, bytes)
    if (merged === existing) return { path, status: 'identical', bytes: existing }
    // Of the very bytes that were merged; somebody may have changed the file since.
    const before = entry.isSymbolicLink() ? await fingerprint(place) : fileFingerprint(existing)
    return { path, status: 'merge', bytes: merged, ...(before === undefined ? {} : { before }), ...mode }
  }
  const isOurs = path === ANSWERS_FILE && existing !== undefined && isAnswers(existing.toString('utf8'))
  if (policy.force || isOurs || GUIDE_FILES.includes(path)) {
    const before = await fingerprint(place)
    return { path, status: 'replace', bytes, ...(before === undefined ? {} : { before }), ...mode }
  }
  const reason = entry.isSymbolicLink() ? 'a symbolic link is there' : 'the file is there, with other content'
  return { path, status: 'conflict', bytes, reason, overwritable: true }
}

/** What is in the folders of a project. Each is read once. */
class Places {
  readonly #folder: ProjectFolder
  readonly #obstacles = new Map<string, Promise<string | undefined>>()
  readonly #names = new Map<string, Promise<readonly string[]>>()

  constructor(folder: ProjectFolder) {
    this.#folder = folder
  }

  at(path: string): string {
    return join(this.#folder.path, path)
  }

  /** Whether the project's own folder is not there yet. */
  get areNew(): boolean {
    return this.#folder.missing.length > 0
  }

  /** What keeps a file from being written, whatever the user says. */
  async obstacleTo(path: string): Promise<string | undefined> {
    return (await this.#obstacleOfFolder(dirname(path))) ?? this.#sameName(path)
  }

  #obstacleOfFolder(path: string): Promise<string | undefined> {
    if (path === '.') return Promise.resolve(undefined)
    const known = this.#obstacles.get(path) ?? this.#lookAtFolder(path)
    this.#obstacles.set(path, known)
    return known
  }

  async #lookAtFolder(path: string): Promise<string | undefined> {
    const above = (await this.#obstacleOfFolder(dirname(path))) ?? (await this.#sameName(path))
    if (above !== undefined) return above
    const entry = await unless(NOTHING_THERE, () => lstat(this.at(path)))
    if (entry === undefined || entry.isDirectory()) return undefined
    // Writing through a link could touch files outside of the project.
    if (entry.isSymbolicLink()) return `${path} is a symbolic link`
    return `${path} is a file, where a folder is needed`
  }

  /** A name that is the same where case does not count. */
  async #sameName(path: string): Promise<string | undefined> {
    const names = await this.#namesIn(dirname(path))
    const wanted = basename(path)
    const other = names.find((name) => name !== wanted && fold(name) === fold(wanted))
    if (other === undefined || names.includes(wanted)) return undefined
    return `${join(dirname(path), other)} is there, which is the same name on some disks`
  }

  #namesIn(path: string): Promise<readonly string[]> {
    const known =
      this.#names.get(path) ??
      unless([...NOTHING_THERE, ...FORBIDDEN], () => readdir(this.at(path))).then((names) => names ?? [])
    this.#names.set(path, known)
    return known
  }
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

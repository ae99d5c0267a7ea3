import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstanceSettings } from '@botcli/protocol'
import { codeOf } from '../errors.ts'
import { FolderShortcut } from './folder-shortcut.ts'
import { type InstanceRecord, instanceRecord } from './instance-record.ts'
import { removeFolder } from './remove-folder.ts'

/** What fits into the system's structure for the address of a socket. */
const MAX_SOCKET_BYTES = 107
const RECORD = 'instance.json'
const IDENTITY = 'identity'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The folder of an instance. Only `door` and `journal` can be written by the bot: what we read or connect to by its path lies beside
 * them, where no bot can put a link to something else in its place.
 */
export class InstanceFolder {
  readonly id: string
  readonly path: string
  readonly #shortcut: FolderShortcut | null

  private constructor(root: string, id: string, shortcut: FolderShortcut | null) {
    this.id = id
    this.path = join(root, id)
    this.#shortcut = shortcut
  }

  /** Makes one, for this user only. */
  static async make(root: string, id: string): Promise<InstanceFolder> {
    const path = join(root, id)
    await mkdir(path, { mode: 0o700 })
    // Container engines put a colon between paths.
    const isUnfit = Buffer.byteLength(join(path, 'door/socket')) > MAX_SOCKET_BYTES || path.includes(':')
    const shortcut = isUnfit ? await FolderShortcut.make(path) : null
    const folder = new InstanceFolder(root, id, shortcut)
    try {
      await writeFile(join(path, IDENTITY), await identityOf(path), { mode: 0o600 })
      for (const name of [folder.door, folder.journal, folder.home, folder.temporary, folder.compiled])
        await mkdir(name, { mode: 0o700 })
      return folder
    } catch (error) {
      await folder.remove()
      throw error
    }
  }

  /**
   * Opens one that was made before, with its record; nothing if it has none, or is only a copy of one, whose instance belongs to another
   * cloud. Rejects if the record cannot be read.
   */
  static async open(
    root: string,
    id: string,
  ): Promise<{ readonly folder: InstanceFolder; readonly record: InstanceRecord } | undefined> {
    if (!UUID.test(id) || (await isCopy(join(root, id)))) return undefined
    const text = await readFile(join(root, id, RECORD), 'utf8').catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
      throw error
    })
    if (text === undefined) return undefined
    const record = instanceRecord.safeParse(parsed(text)).data
    if (record === undefined) throw new Error(`${join(root, id, RECORD)} is damaged.`)
    const shortcut = record.shortcut === null ? null : new FolderShortcut(record.shortcut, join(root, id))
    return { folder: new InstanceFolder(root, id, shortcut), record }
  }

  /** Whether something may have been started from one: it is there, and is no copy of one, whose instance belongs to another cloud. */
  static async isOwn(root: string, id: string): Promise<boolean> {
    return UUID.test(id) && existsSync(join(root, id)) && !(await isCopy(join(root, id)))
  }

  /** One of which there may be anything or nothing, to remove it. */
  static leftover(root: string, id: string): InstanceFolder | undefined {
    return UUID.test(id) ? new InstanceFolder(root, id, null) : undefined
  }

  /** The ids of all. */
  static async list(root: string): Promise<readonly string[]> {
    return (await readdir(root)).filter((name) => UUID.test(name))
  }

  /** Where it is reached by paths that are short enough. */
  get reach(): string {
    return this.#shortcut?.link ?? this.path
  }

  /** The folder of its shortcut, if it has one. */
  get shortcut(): string | null {
    return this.#shortcut?.folder ?? null
  }

  /** Sees to it that `reach` leads here. Its shortcut may be another one afterwards. */
  mendShortcut(): void {
    this.#shortcut?.mend()
  }

  /** Where its socket appears for it, and is taken from. */
  get door(): string {
    return join(this.path, 'door')
  }

  /** Where its socket is put. */
  get socket(): string {
    return join(this.path, 'socket')
  }

  /** Where it is connected to. */
  get socketWithinReach(): string {
    return join(this.reach, 'socket')
  }

  get journal(): string {
    return join(this.path, 'journal')
  }

  get settings(): string {
    return join(this.path, 'settings.json')
  }

  get output(): string {
    return join(this.path, 'output.log')
  }

  /** Where bubblewrap tells what it has started and how that ended. */
  get status(): string {
    return join(this.path, 'status.jsonl')
  }

  get home(): string {
    return join(this.path, 'home')
  }

  get temporary(): string {
    return join(this.path, 'tmp')
  }

  /** Where a bot in JavaScript is compiled to. */
  get compiled(): string {
    return join(this.path, 'compiled')
  }

  /** Lets a user inside of a container write, whoever it is there. The folder above keeps everybody else out. */
  async openToContainer(): Promise<void> {
    await chmod(this.door, 0o777)
    await chmod(this.journal, 0o777)
  }

  async writeSettings(settings: InstanceSettings): Promise<void> {
    await writeFile(this.settings, `${JSON.stringify(settings, null, 2)}\n`)
    await chmod(this.settings, 0o644)
  }

  async writeRecord(run: InstanceRecord['run']): Promise<void> {
    const record: InstanceRecord = { version: 1, id: this.id, shortcut: this.shortcut, run }
    const path = join(this.path, RECORD)
    // In one step: whoever reads it after a crash finds the old one or the new one.
    await writeFile(`${path}.part`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
    await rename(`${path}.part`, path)
  }

  async remove(): Promise<void> {
    try {
      await removeFolder(this.path)
    } finally {
      await this.#shortcut?.remove()
    }
  }
}

/** What no other folder of this machine has while it runs, and this one keeps when it is moved. */
async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${await bootOf()} ${dev}:${ino}`
}

/** What ran before the machine was started runs nowhere any more, so that nobody else can be harmed by what we take for our own. */
async function isCopy(path: string): Promise<boolean> {
  const told = await readFile(join(path, IDENTITY), 'utf8').catch(() => undefined)
  if (told === undefined || !told.startsWith(`${await bootOf()} `)) return false
  // One that goes in this moment is none.
  return told !== (await identityOf(path).catch(() => told))
}

/** Another one each time the machine is started; the same for ever where the system does not tell. */
async function bootOf(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown')).trim()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

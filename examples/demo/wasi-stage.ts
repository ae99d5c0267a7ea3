const ERRNO = { success: 0, badf: 8, fbig: 22, noent: 44, spipe: 70 } as const
const FILE_TYPE = { directory: 3, regularFile: 4 } as const
const WHENCE = { set: 0, current: 1, end: 2 } as const
const CREATE_FLAG = 1
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn

const STDIN = 0
const STDERR = 2
const ROOT = 3
const FILE = 4
const ROOT_NAME = new TextEncoder().encode('/')

const MAX_FILE_BYTES = 8 * 1024 * 1024
const MAX_COMPLAINT_CHARACTERS = 2000

/** Thrown out of the program by its own `exit`. */
export class ProgramExit extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`The program exited with code ${exitCode}.`)
    this.name = 'ProgramExit'
    this.exitCode = exitCode
  }
}

/**
 * The world a small WASI program sees: its arguments, an empty folder, and one file to write. Everything
 * stays in memory, so nothing of what is said touches the disk; `node:wasi` would need a real folder, and
 * prints a warning that it is experimental.
 */
export class WasiStage {
  #memory: WebAssembly.Memory | undefined
  #arguments: readonly Uint8Array[] = []
  #file = new Uint8Array(256 * 1024)
  #size = 0
  #position = 0
  #complaints = ''

  /** What to instantiate the program with. */
  readonly imports: WebAssembly.Imports = {
    wasi_snapshot_preview1: {
      args_sizes_get: (countAt: number, bytesAt: number) => this.#argsSizesGet(countAt, bytesAt),
      args_get: (listAt: number, textAt: number) => this.#argsGet(listAt, textAt),
      clock_time_get: (_clock: number, _precision: bigint, at: number) => this.#clockTimeGet(at),
      fd_close: () => ERRNO.success,
      fd_fdstat_get: (fd: number, at: number) => this.#fdstatGet(fd, at),
      fd_fdstat_set_flags: () => ERRNO.success,
      fd_prestat_get: (fd: number, at: number) => this.#prestatGet(fd, at),
      fd_prestat_dir_name: (fd: number, at: number) => this.#prestatDirName(fd, at),
      fd_read: (fd: number, _list: number, _count: number, at: number) => this.#read(fd, at),
      fd_seek: (fd: number, offset: bigint, whence: number, at: number) => this.#seek(fd, offset, whence, at),
      fd_write: (fd: number, list: number, count: number, at: number) => this.#write(fd, list, count, at),
      path_open: (
        _fd: number,
        _lookup: number,
        _path: number,
        _pathLength: number,
        flags: number,
        _rights: bigint,
        _inherited: bigint,
        _fdFlags: number,
        at: number,
      ) => this.#open(flags, at),
      proc_exit: (code: number) => {
        throw new ProgramExit(code)
      },
    },
  }

  /** Gives the program's memory, which exists only after it was instantiated. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory
  }

  /** Sets the stage for one run. */
  begin(args: readonly string[]): void {
    const encoder = new TextEncoder()
    this.#arguments = args.map((argument) => encoder.encode(`${argument}\0`))
    this.#size = 0
    this.#position = 0
    this.#complaints = ''
  }

  /** The file that the run wrote, as a copy. */
  file(): Uint8Array<ArrayBuffer> {
    return this.#file.slice(0, this.#size)
  }

  /** What the run printed. */
  get complaints(): string {
    return this.#complaints.trim()
  }

  // The buffer changes whenever the program grows its memory, so views are never kept.
  #bytes(): Uint8Array {
    if (this.#memory === undefined) throw new Error('attach() comes before the first run.')
    return new Uint8Array(this.#memory.buffer)
  }

  #view(): DataView {
    if (this.#memory === undefined) throw new Error('attach() comes before the first run.')
    return new DataView(this.#memory.buffer)
  }

  #argsSizesGet(countAt: number, bytesAt: number): number {
    const view = this.#view()
    view.setUint32(countAt, this.#arguments.length, true)
    view.setUint32(
      bytesAt,
      this.#arguments.reduce((total, argument) => total + argument.length, 0),
      true,
    )
    return ERRNO.success
  }

  #argsGet(listAt: number, textAt: number): number {
    let position = textAt
    for (const [index, argument] of this.#arguments.entries()) {
      this.#view().setUint32(listAt + 4 * index, position, true)
      this.#bytes().set(argument, position)
      position += argument.length
    }
    return ERRNO.success
  }

  #clockTimeGet(at: number): number {
    this.#view().setBigUint64(at, process.hrtime.bigint(), true)
    return ERRNO.success
  }

  #fdstatGet(fd: number, at: number): number {
    if (fd > FILE) return ERRNO.badf
    const view = this.#view()
    view.setUint8(at, fd === ROOT ? FILE_TYPE.directory : FILE_TYPE.regularFile)
    view.setUint16(at + 2, 0, true)
    view.setBigUint64(at + 8, ALL_RIGHTS, true)
    view.setBigUint64(at + 16, ALL_RIGHTS, true)
    return ERRNO.success
  }

  #prestatGet(fd: number, at: number): number {
    if (fd !== ROOT) return ERRNO.badf
    const view = this.#view()
    view.setUint32(at, 0, true)
    view.setUint32(at + 4, ROOT_NAME.length, true)
    return ERRNO.success
  }

  #prestatDirName(fd: number, at: number): number {
    if (fd !== ROOT) return ERRNO.badf
    this.#bytes().set(ROOT_NAME, at)
    return ERRNO.success
  }

  #open(flags: number, at: number): number {
    if ((flags & CREATE_FLAG) === 0) return ERRNO.noent
    this.#size = 0
    this.#position = 0
    this.#view().setUint32(at, FILE, true)
    return ERRNO.success
  }

  #read(fd: number, at: number): number {
    if (fd !== STDIN) return ERRNO.badf
    this.#view().setUint32(at, 0, true)
    return ERRNO.success
  }

  #seek(fd: number, offset: bigint, whence: number, at: number): number {
    if (fd !== FILE) return ERRNO.spipe
    const origin = whence === WHENCE.set ? 0 : whence === WHENCE.end ? this.#size : this.#position
    const target = origin + Number(offset)
    if (target < 0 || target > MAX_FILE_BYTES) return ERRNO.fbig
    this.#position = target
    this.#view().setBigUint64(at, BigInt(target), true)
    return ERRNO.success
  }

  #write(fd: number, list: number, count: number, at: number): number {
    if (fd === STDIN || fd === ROOT || fd > FILE) return ERRNO.badf
    let written = 0
    for (let index = 0; index < count; index += 1) {
      const start = this.#view().getUint32(list + 8 * index, true)
      const length = this.#view().getUint32(list + 8 * index + 4, true)
      const chunk = this.#bytes().subarray(start, start + length)
      if (fd <= STDERR) this.#complain(chunk)
      else if (!this.#append(chunk)) return ERRNO.fbig
      written += length
    }
    this.#view().setUint32(at, written, true)
    return ERRNO.success
  }

  #complain(chunk: Uint8Array): void {
    const text = this.#complaints + new TextDecoder().decode(chunk)
    this.#complaints = text.slice(0, MAX_COMPLAINT_CHARACTERS)
  }

  #append(chunk: Uint8Array): boolean {
    const end = this.#position + chunk.length
    if (end > MAX_FILE_BYTES) return false
    if (end > this.#file.length) {
      const larger = new Uint8Array(Math.min(MAX_FILE_BYTES, Math.max(end, 2 * this.#file.length)))
      larger.set(this.#file.subarray(0, this.#size))
      this.#file = larger
    }
    this.#file.set(chunk, this.#position)
    this.#position = end
    this.#size = Math.max(this.#size, end)
    return true
  }
}

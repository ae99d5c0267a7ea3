import type { BuildRecord } from '@botcli/protocol/cloud'
import { DEPLOY_FILE } from '../deploy-file/deploy-file.ts'
import { type Desk, plain } from '../remote/desk.ts'
import type { BuildContext } from './context/context.ts'
import { size } from './context/size.ts'
import { outcomeLines } from './report.ts'

const SHOWN_SECRETS = 10

/** Tells how a build is made: to people beside its log, to programs line by line. */
export class CreationReport {
  readonly #desk: Desk
  readonly #outcomeType: string

  /** Where more comes after the build, its outcome is not the one of the command. */
  constructor(desk: Desk, outcomeType = 'outcome') {
    this.#desk = desk
    this.#outcomeType = outcomeType
  }

  /** What would be sent. */
  files(context: BuildContext): void {
    const { files, bytes, hash, secrets, special, folder, dockerfile, ignoreFile, exclude } = context
    this.#desk.print({
      folder,
      dockerfile,
      ignoreFile: ignoreFile ?? null,
      exclude,
      contextHash: hash,
      bytes,
      files: files.map(({ path, kind, size: length }) => ({ path, kind, size: length })),
      leftOut: { secrets, special },
    })
    const width = files.reduce((most, file) => Math.max(most, size(file.size).length), 0)
    for (const file of files) {
      const arrow = file.target === undefined ? '' : ` -> ${file.target}`
      this.#desk.say(plain(`${size(file.size).padStart(width)}  ${file.path}${arrow}`))
    }
    if (!this.#desk.json) this.#about(context)
  }

  /** What will be sent. */
  context(context: BuildContext): void {
    const { files, bytes, hash, secrets, special, ignoreFile, exclude, dockerfile } = context
    this.#desk.emit('context', {
      files: files.length,
      bytes,
      contextHash: hash,
      dockerfile,
      ignoreFile: ignoreFile ?? null,
      exclude,
      secrets,
      special,
    })
    if (!this.#desk.json) this.#about(context)
  }

  uploaded(bytes: number): void {
    this.#desk.emit('uploaded', { bytes })
  }

  made(build: BuildRecord, url: string): void {
    this.#desk.emit('build', { build })
    if (!this.#desk.json)
      this.#desk.note(`Build ${build.id} is made in ${build.region}: ${url}/#/builds/${build.id}`)
  }

  detached(build: BuildRecord): void {
    this.id(build)
    if (!this.#desk.json) this.#desk.note(`Follow it: botcli build logs -f ${build.id}`)
  }

  /** The id alone, so that scripts can take it. */
  id({ id }: BuildRecord): void {
    this.#desk.say(id)
  }

  outcome(build: BuildRecord, { cached }: { readonly cached: boolean }): void {
    this.#desk.emit(this.#outcomeType, { status: build.status, cached, build })
    if (this.#desk.json) return
    if (cached) {
      this.note('The same files were built before; nothing was built. --no-cache builds them again.')
    }
    for (const line of outcomeLines(build, this.#desk.notePaint)) this.#desk.note(line)
  }

  /** The build goes on, or nobody knows. */
  left(id: string): void {
    this.note(`What becomes of the build: botcli build logs -f ${id}`)
  }

  /** Somebody stopped it before there was a build to follow. */
  stopped(isAskedFor: boolean): void {
    this.note(
      isAskedFor
        ? 'Stopped. A build may have been made all the same: botcli build list'
        : 'Stopped. No build was made.',
    )
  }

  note(text: string): void {
    if (this.#desk.json) this.#desk.emit('note', { text })
    else this.#desk.note(text)
  }

  #about({ files, bytes, ignoreFile, exclude, secrets, special, folder, dockerfile }: BuildContext): void {
    const rules = ignoreFile ?? 'the default list (there is no .dockerignore)'
    const by = exclude.length === 0 ? `${rules} says` : `${DEPLOY_FILE} and ${rules} say`
    const word = files.length === 1 ? 'file' : 'files'
    this.#desk.note(
      `${files.length} ${word}, ${size(bytes)}, from ${plain(folder)} (${dockerfile}; ${by} what is left out)`,
    )
    if (secrets.length > 0) {
      const rest = secrets.length - SHOWN_SECRETS
      const list = plain(secrets.slice(0, SHOWN_SECRETS).join(', ')) + (rest > 0 ? ` and ${rest} more` : '')
      this.#desk.note(
        `Never sent, because they hold secrets: ${list}. Use "botcli secrets set" for what they hold.`,
      )
    }
    if (special.length > 0)
      this.#desk.note(`Not sent, because they are no files: ${plain(special.join(', '))}.`)
  }
}

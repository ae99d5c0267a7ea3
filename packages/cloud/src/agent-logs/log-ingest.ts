import type { JournalLine, JournalRecord } from '@botcli/protocol'
import type { LogSource } from '@botcli/protocol/cloud'
import type { RedactionTable } from '../logs/redaction-table.ts'
import { Redactor } from '../logs/redactor.ts'
import type { NewLogEntry } from './agent-log-store.ts'
import { journalText, printable } from './journal-text.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** How the runner begins what it prints when it gives up. */
const LAST_WORDS = 'botcli: '

/** Whose words these are. */
export interface LogOrigin {
  readonly deploymentId: string
  readonly instanceId: string
}

/** What is known when some words are read. */
export interface LogMoment {
  /** The time of words that do not say their own, in milliseconds since 1970. */
  readonly now: number
  /** Whether the instance was ready when it wrote them. */
  readonly isReady: boolean
}

/** Makes entries of what one instance wrote, without the secrets of its organization. It keeps nothing from one call to the next. */
export class LogIngest {
  readonly #origin: LogOrigin
  readonly #secrets: RedactionTable

  constructor(origin: LogOrigin, secrets: RedactionTable) {
    this.#origin = origin
    this.#secrets = secrets
  }

  /** Entries of the records of its journal. Those of sessions are for others. */
  records(records: readonly JournalRecord[], moment: LogMoment): readonly NewLogEntry[] {
    return records.flatMap((record) => {
      if (record.type === 'log') return [this.#ofAnyLine(record.line, moment)]
      if (record.type === 'lost') return [this.#ofLost(record.records, moment)]
      return []
    })
  }

  /** Entries of the lines that its process has printed beside its journal. */
  output(lines: readonly string[], moment: LogMoment): readonly NewLogEntry[] {
    let isOver = false
    return lines.map((line) => {
      const text = printable(line)
      const isLastWord = text.startsWith(LAST_WORDS)
      // If it cannot start, it ends with these, and what follows belongs to them: a traceback, mostly.
      isOver ||= isLastWord && !moment.isReady
      return this.#entry(moment, { text, level: isLastWord || isOver ? 'error' : null })
    })
  }

  /** Something about the instance that its readers should know, in our words. */
  notice(text: string, moment: LogMoment): NewLogEntry {
    return this.#entry(moment, { level: 'warn', text })
  }

  /** A bot decides what is in a line: one that cannot be shown must not keep those after it from being read. */
  #ofAnyLine(line: JournalLine, moment: LogMoment): NewLogEntry {
    try {
      return this.#ofLine(line, moment)
    } catch {
      return this.notice('A line of the log of this instance cannot be shown.', moment)
    }
  }

  #ofLine(line: JournalLine, moment: LogMoment): NewLogEntry {
    const time = Date.parse(line.time)
    const sessionId = line.sessionId !== undefined && UUID.test(line.sessionId) ? line.sessionId : null
    return this.#entry(moment, {
      time: Number.isNaN(time) ? moment.now : time,
      level: line.level,
      text: journalText(line),
      sessionId,
      // Only an instance that is ready has sessions.
      ...(sessionId !== null && { source: 'run' as const }),
    })
  }

  #ofLost(records: number, moment: LogMoment): NewLogEntry {
    const what = records === 1 ? '1 record' : `${records} records`
    const text = `${what} of this instance, such as lines of its log, were removed before the cloud could read them: it was away for too long, and the journal full.`
    return this.notice(text, moment)
  }

  #entry({ now, isReady }: LogMoment, given: Partial<NewLogEntry> & { readonly text: string }): NewLogEntry {
    const source: LogSource = isReady ? 'run' : 'start'
    const usual = { time: now, source, level: null, sessionId: null }
    return { ...usual, ...this.#origin, ...given, text: this.#redact(given.text) }
  }

  #redact(text: string): string {
    if (this.#secrets.isEmpty) return text
    const redactor = new Redactor(this.#secrets)
    return [...redactor.push(text.split('\n')), ...redactor.close()].join('\n')
  }
}

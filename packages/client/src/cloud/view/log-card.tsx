import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import { messageOf } from '../api/api-error.ts'
import type { Connection, LogModel } from '../log/log-model.ts'
import { countWords } from '../state/words.ts'
import { LogRows, type LogRowsProps } from './log-rows.tsx'
import { Trouble } from './parts.tsx'
import { saveFile } from './save-file.ts'

const CONNECTION_WORDS: Readonly<Record<Connection, string>> = {
  opening: 'Opening…',
  live: 'Live',
  lost: 'Connection lost, trying again…',
  ended: 'Complete',
  refused: 'Not readable',
}

interface LogCardProps extends LogRowsProps {
  /** How much there is of it. */
  readonly count: string
  /** Finds or chooses lines. */
  readonly tools: ComponentChildren
  /** What the log is called as a file. */
  readonly fileName: string
  /** What stands below the lines, such as the one that is pointed at. */
  readonly children: ComponentChildren
}

/** A log with its tools. */
export function LogCard({ count, tools, fileName, children, ...rows }: LogCardProps): VNode {
  const { log } = rows
  const connection = log.connection.value
  return (
    <section class="card log" aria-label="Log">
      <div class="log-tools">
        <h2>Log</h2>
        <span class="state" role="status" data-testid="connection" data-state={connection}>
          {CONNECTION_WORDS[connection]}
        </span>
        <span class="hint log-count" data-testid="line-count">
          {count}
        </span>
        {tools}
        <Download log={log} fileName={fileName} />
      </div>
      <Trouble text={log.problem.value} />
      {log.lines.beyond > 0 && (
        <p class="hint log-beyond">
          The first {countWords(log.lines.beyond, 'line')} can only be read in the download.
        </p>
      )}
      <LogRows {...rows} />
      {children}
    </section>
  )
}

interface DownloadProps {
  readonly log: LogModel
  readonly fileName: string
}

function Download({ log, fileName }: DownloadProps): VNode {
  const [busy, setBusy] = useState(false)
  const download = async (): Promise<void> => {
    setBusy(true)
    try {
      saveFile(await log.text(), fileName)
    } catch (error) {
      log.problem.value = `The log was not downloaded. ${messageOf(error)}`
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      type="button"
      class="button small"
      aria-label="Download the log"
      title="Download the log"
      data-testid="download"
      disabled={busy}
      onClick={() => void download()}
    >
      <Icon name="download" />
      <span>{busy ? 'Downloading…' : 'Download'}</span>
    </button>
  )
}

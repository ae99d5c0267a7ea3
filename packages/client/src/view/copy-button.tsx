import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

const COPIED_FOR_MS = 1_600

interface CopyButtonProps {
  readonly text: string
  /** What the button does, for those who cannot see its drawing. */
  readonly label: string
  readonly icon?: IconName
}

/** Copies a text. Pages without https have no clipboard; there the text is selected by hand. */
export function CopyButton({ text, label, icon = 'copy' }: CopyButtonProps): VNode | null {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), COPIED_FOR_MS)
    return () => clearTimeout(timer)
  }, [copied])
  if (navigator.clipboard === undefined) return null
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <>
      <button type="button" class="quiet" onClick={copy} aria-label={label} title={label}>
        <Icon name={copied ? 'done' : icon} />
      </button>
      <span class="unseen" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </>
  )
}

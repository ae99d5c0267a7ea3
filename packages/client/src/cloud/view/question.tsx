import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api/api-error.ts'
import { Trouble } from './parts.tsx'

interface QuestionProps {
  readonly title: string
  readonly children: ComponentChildren
  /** What is done, on the button that does it. */
  readonly yes: string
  readonly no?: string
  readonly onYes: () => Promise<void>
  readonly onClose: () => void
}

/** Asks before something that cannot be undone. It stays open until that worked, or one decides otherwise. */
export function Question({ title, children, yes, no = 'Keep it', onYes, onClose }: QuestionProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  // Before anything is drawn, so that no key goes to what lies beneath.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const act = async (): Promise<void> => {
    setBusy(true)
    try {
      await onYes()
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} class="card question" aria-labelledby="question" onClose={onClose}>
      <h2 id="question">{title}</h2>
      <div class="question-text">{children}</div>
      <Trouble text={problem} />
      <div class="question-tools">
        <button type="button" class="button small" onClick={onClose}>
          {no}
        </button>
        <button
          type="button"
          class="button small leave"
          data-testid="yes"
          disabled={busy}
          onClick={() => void act()}
        >
          {yes}
        </button>
      </div>
    </dialog>
  )
}

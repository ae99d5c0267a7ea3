import type { VNode } from 'preact'

/** The sign of the house. */
export function Mark(): VNode {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" />
      <path d="M8 13.5v5M13.3 9.5v13M18.7 12v8M24 14.5v3" />
    </svg>
  )
}

import type { VNode } from 'preact'

const PATHS = {
  microphone: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3ZM6 11a6 6 0 0 0 12 0M12 17v4',
  microphoneOff:
    'M9 9v2a3 3 0 0 0 4.6 2.5M15 10V6a3 3 0 0 0-5.7-1.3M6 11a6 6 0 0 0 9.2 5M18 11a6 6 0 0 1-.4 2.2M12 17v4M4 3l16 18',
  hangUp:
    'M4 15.5v-2.2c0-1 .5-1.7 1.3-2.2a13 13 0 0 1 13.4 0c.8.5 1.3 1.2 1.3 2.2v2.2c0 .7-.6 1.2-1.3 1l-2.9-.7a1 1 0 0 1-.8-1v-2.1a11 11 0 0 0-6 0v2.1a1 1 0 0 1-.8 1l-2.9.7c-.7.2-1.3-.3-1.3-1Z',
  talk: 'M4 10v4M8 6.5v11M12 9v6M16 5v14M20 10v4',
  send: 'M5 12h13M12.5 6.5 18 12l-5.5 5.5',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  done: 'm5 12.5 4.5 4.5L19 7.5',
  open: 'M13.5 5H19v5.5M19 5l-8 8M10 6H5v13h13v-5',
  close: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
} as const

/** A line drawing beside a text; it says nothing that the text does not say. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}

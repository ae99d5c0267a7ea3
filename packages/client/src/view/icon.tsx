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
  agent: 'M5 8.5h14v10.5H5zM12 8.5V5M9 13v1.5M15 13v1.5M2.5 12.5v3M21.5 12.5v3',
  back: 'M9 7 4.5 11.5 9 16M5 11.5h9a5 5 0 0 1 0 10h-2',
  stop: 'M7 7h10v10H7z',
  build: 'M12 3.5 20 8v8.5L12 21l-8-4.5V8zM4 8l8 4.5L20 8M12 12.5V21',
  secret: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3M12 14.5v2',
  key: 'M8 19.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM11 12.5l8.5-8.5M15.5 8l3 3',
  settings: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4M4 12h5M13 12h7M11 10v4',
  leave: 'M10 4.5H5v15h5M14.5 8l4 4-4 4M18 12H9.5',
  remove: 'M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v5.5M13.5 10.5v5.5',
  download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
  log: 'M5 6h14M5 10.5h14M5 15h9M5 19.5h6',
  up: 'm6 14.5 6-6 6 6',
  down: 'm6 9.5 6 6 6-6',
  link: 'M10 14a4 4 0 0 0 6 .4l2.6-2.6a4 4 0 0 0-5.7-5.7L11.8 7.2M14 10a4 4 0 0 0-6-.4l-2.6 2.6a4 4 0 0 0 5.7 5.7l1.1-1.1',
  add: 'M12 5v14M5 12h14',
} as const

/** The drawings that there are. */
export type IconName = keyof typeof PATHS

/** A line drawing beside a text; it says nothing that the text does not say. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** Where an instance finds its own things, in a sandbox as in a container. */
export const INSIDE = {
  settings: '/run/botcli/settings.json',
  journal: '/run/botcli/journal',
  door: '/run/botcli/door',
} as const

import { spawn } from 'node:child_process'
import type { Environment } from '../remote/credentials.ts'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
/** One of these is set where there is something to show a page on. */
const SCREENS = ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME', 'BROWSER']
/** What has not failed by then has opened something. */
const LIMIT_MS = 2000

/** Shows a page in the user's browser; false where that cannot be done. */
export function openInBrowser(
  url: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const [program = '', ...words] = OPENERS[platform] ?? ['xdg-open']
  if (program === 'xdg-open' && !SCREENS.some((name) => env[name])) return Promise.resolve(false)
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true, env: { ...env } })
    const timer = setTimeout(() => settle(true), LIMIT_MS)
    const settle = (isOpen: boolean) => {
      clearTimeout(timer)
      child.unref()
      resolve(isOpen)
    }
    child.on('error', () => settle(false))
    child.on('exit', (code) => settle(code === 0))
  })
}

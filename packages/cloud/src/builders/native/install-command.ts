import { posix } from 'node:path'
import type { SimpleCommand } from './shell-line.ts'

/** An installation that the native builder does by itself, with the arguments that the container build file gives. */
export interface InstallCommand {
  readonly tool: 'pip' | 'uv-pip' | 'uv-sync' | 'npm'
  readonly args: readonly string[]
}

/** Options that say where to install. The bundle is the only place. */
const PLACES = new Set(['--target', '-t', '--prefix', '--root', '--cache-dir', '--python', '-p'])
const PLACE_SWITCHES = new Set(['--system', '--user', '--break-system-packages'])
/** Our own packages. */
const OURS = /^(?:botcli|@botcli\/[\w-]+)(?:@.*)?$|(?:^|\/)botcli[^/]*\.tgz$/
const NPM_INSTALLS = new Set(['ci', 'clean-install', 'install', 'i', 'add'])

/** Takes a command for an installation into the project, if it is one. */
export function installCommand({ words }: SimpleCommand): InstallCommand | undefined {
  const [program = '', ...rest] = words
  const name = posix.basename(program)
  if (/^pip[\d.]*$/.test(name) && rest[0] === 'install')
    return { tool: 'pip', args: pipArguments(rest.slice(1)) }
  if (/^python[\d.]*$/.test(name) && rest[0] === '-m' && rest[1] === 'pip' && rest[2] === 'install')
    return { tool: 'pip', args: pipArguments(rest.slice(3)) }
  if (name === 'uv' && rest[0] === 'pip' && rest[1] === 'install')
    return { tool: 'uv-pip', args: pipArguments(rest.slice(2)) }
  if (name === 'uv' && rest[0] === 'sync') return { tool: 'uv-sync', args: pipArguments(rest.slice(1)) }
  if (name === 'npm' && NPM_INSTALLS.has(rest[0] ?? '')) {
    const packages = rest.slice(1).filter((word) => !word.startsWith('-'))
    // The platform brings itself.
    if (packages.length > 0 && packages.every((name) => OURS.test(name))) return undefined
    // Programs for the whole image are the platform's affair.
    if (rest.some((word) => /^(?:-g|--global|--prefix|--location)(?:=|$)/.test(word))) return undefined
    return { tool: 'npm', args: rest }
  }
  return undefined
}

function pipArguments(words: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const [option = ''] = word.split('=', 1)
    if (PLACE_SWITCHES.has(word)) continue
    if (PLACES.has(option)) {
      if (!word.includes('=')) at += 1
      continue
    }
    kept.push(word)
  }
  return kept
}

/** Puts another path in the place of each path among the arguments. */
export function withPaths(args: readonly string[], place: (path: string) => string): readonly string[] {
  return args.map((word, index) => {
    const before = args[index - 1] ?? ''
    if (/^(?:-r|-c|-e|-f|--requirements?|--constraints?|--editable|--find-links)$/.test(before))
      return place(word)
    const joined = /^(--requirements?|--constraints?|--editable|--find-links)=(.*)$/.exec(word)
    if (joined !== null) return `${joined[1]}=${place(joined[2] ?? '')}`
    if (/^-[rce]./.test(word)) return `${word.slice(0, 2)}${place(word.slice(2))}`
    if (word.startsWith('-')) return word
    const extras = /^(\.{1,2}(?:\/[^[]*)?|\/[^[]*|[^[=<>@]*\.(?:whl|tar\.gz|zip))(\[.*\])?$/.exec(word)
    return extras === null ? word : `${place(extras[1] ?? '')}${extras[2] ?? ''}`
  })
}

import { posix } from 'node:path'
import { nearest } from '../nearest.ts'
import { isOwnPackage } from './own-packages.ts'
import type { SimpleCommand } from './shell-line.ts'

/** An installation that the native builder does by itself, with the arguments that the container build file gives. */
export interface InstallCommand {
  readonly tool: 'pip' | 'uv-pip' | 'uv-sync' | 'npm'
  readonly args: readonly string[]
}

/** Options that say where to install. The bundle is the only place. */
const PLACES = new Set(['--target', '-t', '--prefix', '--root', '--cache-dir', '--python', '-p'])
const PLACE_SWITCHES = new Set(['--system', '--user', '--break-system-packages'])
/** With the slips that npm itself takes for an installation. */
const NPM_INSTALLS = new Set(
  'ci clean-install ic install-clean isntall-clean install i in ins inst insta instal isnt isnta isntal isntall add'.split(
    ' ',
  ),
)
/** What else the installers know, so that it is no slip. */
const NPM_OTHERS =
  'run run-script test start stop restart init link ls list update outdated publish pack audit cache config view version exec dedupe prune rebuild uninstall install-test it fund set get root prefix ping search login logout help doctor explain query install-ci-test cit'.split(
    ' ',
  )
const PIP_OTHERS =
  'uninstall download freeze list show check config search cache index wheel hash completion debug help inspect lock'.split(
    ' ',
  )
const UV_OTHERS =
  'run init add remove version lock export tree tool python pip venv build publish cache self help format auth'.split(
    ' ',
  )
const UV_PIP_OTHERS = 'compile sync uninstall freeze list show tree check'.split(' ')

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
    if (packages.length > 0 && packages.every(isOwnPackage)) return undefined
    // Programs for the whole image are the platform's affair.
    if (rest.some((word) => /^(?:-g|--global|--prefix|--location)(?:=|$)/.test(word))) return undefined
    return { tool: 'npm', args: rest.filter((word) => !isOwnPackage(word)) }
  }
  return undefined
}

/** The word that was meant, where a command is an installation but for a slip of the pen. */
export function misspelledInstall({ words }: SimpleCommand): string | undefined {
  const [program = '', ...all] = words
  const rest = all.filter((word) => !word.startsWith('-') || word === '-m')
  const name = posix.basename(program)
  if (/^pip[\d.]*$/.test(name)) return slip(rest[0], ['install'], PIP_OTHERS)
  if (/^python[\d.]*$/.test(name) && rest[0] === '-m' && rest[1] === 'pip')
    return slip(rest[2], ['install'], PIP_OTHERS)
  if (name === 'uv' && rest[0] === 'pip') return slip(rest[1], ['install'], UV_PIP_OTHERS)
  if (name === 'uv') return slip(rest[0], ['sync'], UV_OTHERS)
  if (name === 'npm') return slip(rest[0], ['install', 'clean-install'], [...NPM_INSTALLS, ...NPM_OTHERS])
  return undefined
}

function slip(
  word: string | undefined,
  installs: readonly string[],
  others: readonly string[],
): string | undefined {
  if (word === undefined || installs.includes(word) || others.includes(word)) return undefined
  const meant = nearest(word, [...installs, ...others])
  return meant !== undefined && installs.includes(meant) ? meant : undefined
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

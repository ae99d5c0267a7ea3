import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the inspector knows of a script. */
export interface ScriptFacts {
  readonly url: string
  /** Where its source map is: a URL relative to the script, or all of it as data; empty without one. */
  readonly mapUrl: string
}

/**
 * A place in code as `file:line`, mapped to what the user wrote and relative to the working folder. Nothing for code that is
 * not the user's: of Node, of installed packages, or below `ownUrl`. Line and column count from 0.
 */
export function placeOf(
  script: ScriptFacts,
  line: number,
  column: number,
  ownUrl: string,
): string | undefined {
  const { url, number } = original(script, line, column) ?? { url: script.url, number: line + 1 }
  if (!url.startsWith('file:') || url.startsWith(ownUrl) || url.includes('/node_modules/')) return undefined
  const path = fileURLToPath(url)
  const short = relative(process.cwd(), path)
  return `${short.startsWith('..') || isAbsolute(short) ? path : short}:${number}`
}

function original(
  script: ScriptFacts,
  line: number,
  column: number,
): { url: string; number: number } | undefined {
  if (script.mapUrl === '') return undefined
  try {
    const mapUrl = new URL(script.mapUrl, script.url)
    const entry = new SourceMap(JSON.parse(mapText(mapUrl))).findEntry(line, column)
    if (!('originalSource' in entry)) return undefined
    // Sources are named relative to the map, which is at the script's own place when it is inline.
    const base = mapUrl.protocol === 'data:' ? script.url : mapUrl
    return { url: new URL(entry.originalSource, base).href, number: entry.originalLine + 1 }
  } catch {
    // A map that is gone or broken is no reason to have no place at all.
    return undefined
  }
}

function mapText(url: URL): string {
  if (url.protocol !== 'data:') return readFileSync(url, 'utf8')
  const comma = url.href.indexOf(',')
  const data = url.href.slice(comma + 1)
  return url.href.slice(0, comma).endsWith(';base64')
    ? Buffer.from(data, 'base64').toString('utf8')
    : decodeURIComponent(data)
}

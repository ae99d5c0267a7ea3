import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g

/** A stack with places in the sources: those in the few files that are built of them tell nobody much. */
export function sourceStack(stack: string): string {
  return stack.replace(PLACE, (place, url: string, line: string, column: string) => {
    const origin = readMap(url)?.findOrigin(Number(line), Number(column))
    if (origin === undefined || !('fileName' in origin)) return place
    return `${new URL(origin.fileName, url)}:${origin.lineNumber}:${origin.columnNumber}`
  })
}

function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')))
  } catch {
    // Not everything has one, and a fault must be told in any case.
    return undefined
  }
}

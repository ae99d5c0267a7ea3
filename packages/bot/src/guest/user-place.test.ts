import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { placeOf } from './user-place.ts'

const OWN = 'file:///opt/botcli/'
const SOURCE = `interface Gone { a: number }\n\nexport function here(): number {\n  return 1\n}\n`

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'place-'))
})

afterEach(() => rm(folder, { recursive: true }))

const urlOf = (name: string): string => pathToFileURL(join(folder, name)).href

/** The line of generated code with the return statement, counted from 0. */
function lineOf(code: string): number {
  return code.split('\n').findIndex((line) => line.includes('return 1'))
}

describe('placeOf', () => {
  it('maps through a file beside the script', async () => {
    const { code, map } = await transform(SOURCE, {
      loader: 'ts',
      sourcemap: true,
      sourcefile: '../src/bot.ts',
    })
    await writeFile(join(folder, 'bot.mjs.map'), map)
    const place = placeOf({ url: urlOf('bot.mjs'), mapUrl: 'bot.mjs.map' }, lineOf(code), 2, OWN)
    expect(place).toBe(`${join(folder, '../src/bot.ts')}:4`)
  })

  it('maps through a map inside of the script', async () => {
    const { code, map } = await transform(SOURCE, { loader: 'ts', sourcemap: true, sourcefile: 'bot.ts' })
    const mapUrl = `data:application/json;base64,${Buffer.from(map).toString('base64')}`
    expect(placeOf({ url: urlOf('out.mjs'), mapUrl }, lineOf(code), 2, OWN)).toBe(
      `${join(folder, 'bot.ts')}:4`,
    )
  })

  it('gives the generated place when the map is missing or broken', async () => {
    const url = urlOf('bot.mjs')
    await writeFile(join(folder, 'broken.map'), '{')
    for (const mapUrl of ['', 'none.map', 'broken.map', 'data:nonsense']) {
      expect(placeOf({ url, mapUrl }, 4, 0, OWN)).toBe(`${join(folder, 'bot.mjs')}:5`)
    }
  })

  it('is relative to the working folder below it', () => {
    const url = pathToFileURL(join(process.cwd(), 'bots/a.mjs')).href
    expect(placeOf({ url, mapUrl: '' }, 0, 0, OWN)).toBe(`${join('bots', 'a.mjs')}:1`)
  })

  it.each(['node:internal/timers', '', 'file:///x/node_modules/a/b.js', `${OWN}dist/index.js`])(
    'is nothing in code that is not the user’s: %s',
    (url) => {
      expect(placeOf({ url, mapUrl: '' }, 0, 0, OWN)).toBeUndefined()
    },
  )
})

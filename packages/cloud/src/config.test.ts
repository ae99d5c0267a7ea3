import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DEFAULT_CONFIG, loadConfig } from './config.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'botcli-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))
const file = () => join(folder, 'cloud.json')

it('is written with all defaults for its owner alone, and read again as it is', () => {
  expect(loadConfig(folder)).toEqual(DEFAULT_CONFIG)
  expect(readdirSync(folder)).toEqual(['cloud.json'])
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual(DEFAULT_CONFIG)
  expect(loadConfig(folder)).toEqual(DEFAULT_CONFIG)
})

it('may have only what is to be another than the default', () => {
  writeFileSync(file(), '{ "builds": { "concurrency": 5 } }')
  const { builds, regions } = loadConfig(folder)
  expect(builds).toEqual({ ...DEFAULT_CONFIG.builds, concurrency: 5 })
  expect(regions).toEqual(DEFAULT_CONFIG.regions)
})

it.each([
  ['{"bulids":{}}', 'unknown "bulids" (known: regions, publicUrl, builds, agents)'],
  ['{"builds":{"second":5}}', 'builds: unknown "second" (known: builders, concurrency, perOrganization'],
  [
    '{"regions":[{"code":"a","display_name":"A","name":"x"}]}',
    'regions.0: unknown "name" (known: code, display_name)',
  ],
  [
    '{"builds":{"builders":["podman"]}}',
    'builds.builders.0: Invalid option: expected one of "docker"|"buildah"',
  ],
  ['{"builds":{"concurrency":0}}', 'builds.concurrency'],
  ['{"builds":{"seconds":"10"}}', 'builds.seconds'],
  ['{"regions":[]}', 'regions'],
  ['{"regions":[{"code":"A","display_name":"x"}]}', 'regions.0.code: must be lower case'],
  [
    '{"regions":[{"code":"a","display_name":"x"},{"code":"a","display_name":"y"}]}',
    'regions: must not have a code twice',
  ],
  ['{"publicUrl":"ftp://x"}', 'publicUrl'],
  ['[]', 'it: '],
  ['{', 'is not JSON'],
])('%s is refused, with what is wrong', (text, problem) => {
  writeFileSync(file(), text)
  expect(() => loadConfig(folder)).toThrow(problem)
  expect(() => loadConfig(folder)).toThrow(file())
})

it('says when it cannot be read', () => {
  mkdirSync(file())
  expect(() => loadConfig(folder)).toThrow(/cloud\.json cannot be read: EISDIR/)
})

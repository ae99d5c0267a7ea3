import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Configuration } from '../configuration.ts'
import { COMMAND_OPTIONS } from '../options/command-options.ts'
import type { FlagValues } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import { QUICKSTART_CONFIGURATION } from '../resolve/quickstart.ts'
import { resolve } from '../resolve/resolve.ts'
import { planProject } from '../scaffold.ts'
import { anyConfiguration } from '../testing/arbitrary.ts'
import { codingAgentFiles } from './guide.ts'
import { readStamp } from './stamp.ts'

const WHEEL = Buffer.from('wheel')

function guideOf(configuration: Configuration): string {
  const files = planProject({ configuration, wheel: WHEEL })
  return files.find(({ path }) => path === 'AGENTS.md')?.content ?? ''
}

describe('the guide of a project', () => {
  it('tells of this very project', () => {
    const guide = guideOf(QUICKSTART_CONFIGURATION)
    for (const word of [
      'deepgram_stt',
      'openai_responses_llm',
      'cartesia_tts',
      'DEEPGRAM_API_KEY',
      'uv sync',
    ]) {
      expect(guide).toContain(word)
    }
    expect(guide).toContain('server/Dockerfile')
    expect(guideOf({ ...QUICKSTART_CONFIGURATION, deployToCloud: false })).not.toContain('Dockerfile')
    expect(guide).not.toContain('client/package.json')
    expect(guideOf({ ...QUICKSTART_CONFIGURATION, evals: true })).toContain('starter_text.yaml')
  })

  it('names only files that are there, and options that exist', () => {
    const flags = new Set([...SCAFFOLD_OPTIONS, ...COMMAND_OPTIONS].map(({ flag }) => `--${flag}`))
    fc.assert(
      fc.property(anyConfiguration, (configuration) => {
        const files = planProject({ configuration, wheel: WHEEL }).map(({ path }) => path)
        const guide = guideOf(configuration)
        expect(readStamp(guide)?.edited).toBe(false)
        const named = [...guide.matchAll(/`((?:server|client)\/[\w./-]+\.\w+)`/g)].map(
          (match) => match[1] ?? '',
        )
        expect(named.filter((path) => !files.includes(path))).toEqual([])
        const used = [...guide.matchAll(/botcli init[^`\n]*/g)].flatMap(
          ([line]) => line.match(/--[a-z-]+\b/g) ?? [],
        )
        expect(used.filter((flag) => !flags.has(flag))).toEqual([])
        expect(guide).not.toMatch(/undefined|\[object|\n\n\n/)
      }),
      { numRuns: 40 },
    )
  })
})

describe('the files for a coding agent', () => {
  const files = codingAgentFiles('1.0.0')

  it('are three, and the assistant is led to the guide', () => {
    expect(files.map(({ path }) => path)).toEqual(['AGENTS.md', 'ASSISTANT.md', 'GETTING_STARTED.md'])
    expect(files[1]?.content).toBe('@AGENTS.md\n')
  })

  it('suggest a command that works', () => {
    const command = /^botcli init \. (.*--eval)$/m.exec(files[0]?.content ?? '')?.[1] ?? ''
    const words = command.split(' ')
    const flags: FlagValues = Object.fromEntries(
      SCAFFOLD_OPTIONS.flatMap(({ flag, key, kind }): [string, unknown][] => {
        const at = words.indexOf(`--${flag}`)
        if (at < 0) return []
        if (kind === 'toggle') return [[key, true]]
        return [[key, kind === 'choices' ? [words[at + 1]] : words[at + 1]]]
      }),
    )
    expect(resolve({ flags, directoryName: 'x' })).toMatchObject({ ok: true, configuration: { evals: true } })
  })
})

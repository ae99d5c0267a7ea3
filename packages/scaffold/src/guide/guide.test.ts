import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Configuration, ScaffoldTransport } from '../configuration.ts'
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

  it.each<[readonly ScaffoldTransport[], readonly string[]]>([
    [['webrtc'], ['http://localhost:7860 ']],
    [['room'], ['http://localhost:7860/daily']],
    [['telephony_c'], ['botcli call --as telephony_c']],
    [['websocket'], ['By WebSocket']],
    [['room_pstn'], ['By phone']],
    [
      ['room_pstn', 'webrtc'],
      ['http://localhost:7860 ', 'By phone'],
    ],
  ])('says how to talk to a bot on %j, and no other way', (transports, expected) => {
    const ways = [
      'http://localhost:7860 ',
      'http://localhost:7860/daily',
      'botcli call --as',
      'By WebSocket',
      'By phone',
    ]
    const guide = guideOf({ ...QUICKSTART_CONFIGURATION, transports, pstnMode: 'dial-out' })
    const section = guide.slice(guide.indexOf('## Test it'))
    const found = ways.filter((way) => section.includes(way))
    expect(found).toHaveLength(expected.length)
    for (const way of expected) expect(section).toContain(way)
  })

  it('speaks of what is in the code', () => {
    fc.assert(
      fc.property(anyConfiguration, (configuration) => {
        const files = planProject({ configuration, wheel: WHEEL })
        const bot = files.find(({ path }) => path === 'server/bot.py')?.content ?? ''
        const settings = files.find(({ path }) => path === 'server/settings.py')?.content ?? ''
        const guide = guideOf(configuration)
        expect(guide.includes('`GREETING`')).toBe(bot.includes('GREETING = '))
        for (const word of ['SYSTEM_INSTRUCTION = ', 'LLMContext(', 'create_transport(', 'PipelineWorker(']) {
          expect(bot).toContain(word)
        }
        expect(settings).toContain('REQUIRED')
      }),
      { numRuns: 40 },
    )
  })

  it('has a command that makes this very project', () => {
    const guide = guideOf(QUICKSTART_CONFIGURATION)
    expect(guide).toContain(
      'botcli init ../bot-quickstart-other --transport webrtc --transport room --mode cascade --stt deepgram_stt',
    )
  })

  it('names only files that are there, and options that exist', () => {
    const flags = new Set(
      [...SCAFFOLD_OPTIONS, ...COMMAND_OPTIONS].flatMap(({ flag }) => [`--${flag}`, `--no-${flag}`]),
    )
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
        const prose = guide.replaceAll(/```.*?```/gs, 'code')
        expect(prose).not.toMatch(/undefined|\[object|\n\n\n/)
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
    const command = /^botcli init \. (.*--eval) --overwrite-guide$/m.exec(files[0]?.content ?? '')?.[1] ?? ''
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

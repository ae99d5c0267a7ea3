import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Configuration } from '../configuration.ts'
import { QUICKSTART_CONFIGURATION } from '../resolve/quickstart.ts'
import { resolve } from '../resolve/resolve.ts'
import { anyConfiguration } from '../testing/arbitrary.ts'
import { commandFor, optionsFor, quoteForShell } from './command-line.ts'
import { configurationFields } from './fields.ts'
import type { FlagValues } from './option.ts'
import { SCAFFOLD_OPTIONS } from './table.ts'

/** Reads options as a command line would. */
function parse(words: readonly string[]): FlagValues {
  const flags: Record<string, unknown> = {}
  const rest = words.flatMap((word) => /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? [word])
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index] ?? ''
    const option = SCAFFOLD_OPTIONS.find(({ flag }) => [`--${flag}`, `--no-${flag}`].includes(word))
    if (option === undefined) throw new Error(`${word} is no option`)
    if (option.kind === 'toggle') flags[option.key] = word === `--${option.flag}`
    else {
      index += 1
      const old = flags[option.key]
      const value = rest[index]
      flags[option.key] = option.kind === 'choices' ? [...(Array.isArray(old) ? old : []), value] : value
    }
  }
  return flags
}

function again(flags: FlagValues, text?: string): Configuration | unknown {
  const configFile = text === undefined ? {} : { configFile: { path: 'bot.json', text } }
  const resolution = resolve({ flags, directoryName: 'project', ...configFile })
  return resolution.ok ? resolution.configuration : resolution.problems
}

describe('a configuration', () => {
  it('comes back from its options', () => {
    fc.assert(
      fc.property(anyConfiguration, (configuration) => {
        expect(again(parse(optionsFor(configuration, 'project')))).toEqual(configuration)
      }),
    )
  })

  it('comes back from its fields, which are a config file', () => {
    fc.assert(
      fc.property(anyConfiguration, (configuration) => {
        const fields = configurationFields(configuration)
        expect(Object.keys(fields)).toEqual(SCAFFOLD_OPTIONS.map(({ field }) => field))
        expect(again({}, JSON.stringify(fields))).toEqual(configuration)
      }),
    )
  })

  it('is told in the shortest command', () => {
    expect(commandFor(QUICKSTART_CONFIGURATION, './my bot', 'bot-quickstart')).toBe(
      "botcli init './my bot' --transport webrtc --transport room --mode cascade --stt deepgram_stt --llm openai_responses_llm --tts cartesia_tts",
    )
  })
})

it.each([
  ['-x', './-x'],
  ['quickstart', './quickstart'],
  ['.', '.'],
])('the folder %s is %s in a command', (directory, word) => {
  expect(commandFor(QUICKSTART_CONFIGURATION, directory, 'bot-quickstart')).toMatch(`botcli init ${word} --`)
})

it('quotes whatever a word is made of', () => {
  const words = ['a b', "it's", '$(x)', '`x`', '*', '', '"', '\\', '~', 'é', 'a\nb', 'plain-1.2/x']
  const printed = execFileSync('sh', ['-c', `printf '%s|' ${words.map(quoteForShell).join(' ')}`]).toString()
  expect(printed).toBe(words.map((word) => `${word}|`).join(''))
})

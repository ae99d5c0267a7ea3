import { describe, expect, it } from 'vitest'
import { QUICKSTART_CONFIGURATION, quickstartProblems } from './resolve/quickstart.ts'
import { resolve } from './resolve/resolve.ts'
import { chooseTarget, type Target, type TargetInput } from './target.ts'

describe('the target', () => {
  it.each<[Partial<TargetInput>, Target]>([
    [{}, { kind: 'ask' }],
    [{ directory: 'my-bot' }, { kind: 'ask', directory: 'my-bot' }],
    [{ directory: '.' }, { kind: 'ask', directory: '.' }],
    [{ flags: { recording: false } }, { kind: 'options', directory: '.' }],
    [{ flags: { clientFramework: 'react' } }, { kind: 'options', directory: '.' }],
    [
      { directory: 'x', flags: { transports: ['room'] } },
      { kind: 'options', directory: 'x' },
    ],
    [{ configPath: 'bot.json' }, { kind: 'options', directory: '.' }],
    [{ dryRun: true }, { kind: 'options', directory: '.' }],
    [{ directory: 'quickstart' }, { kind: 'quickstart', directory: 'bot-quickstart' }],
    [
      { directory: 'quickstart', dryRun: true },
      { kind: 'quickstart', directory: 'bot-quickstart' },
    ],
    [{ directory: './quickstart' }, { kind: 'ask', directory: './quickstart' }],
  ])('of %j is %j', (input, target) => {
    expect(chooseTarget({ flags: {}, dryRun: false, ...input })).toEqual(target)
  })
})

describe('the quickstart', () => {
  it('is what its options would give', () => {
    const { transports, mode, stt, llm, tts } = QUICKSTART_CONFIGURATION
    const flags = { transports, mode, ...(stt && { stt }), ...(llm && { llm }), ...(tts && { tts }) }
    expect(resolve({ flags, directoryName: 'bot-quickstart' })).toEqual({
      ok: true,
      configuration: QUICKSTART_CONFIGURATION,
      notices: [],
    })
  })

  it('refuses options, because they would have no effect', () => {
    expect(quickstartProblems({}, undefined)).toEqual([])
    expect(
      quickstartProblems({ evals: true, recording: false }, 'bot.json').map(({ code, flag }) => [code, flag]),
    ).toEqual([
      ['no_effect', '--recording'],
      ['no_effect', '--eval'],
      ['no_effect', '--config'],
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import { brief, notices, problems, resolved } from '../testing/resolving.ts'

describe('a config file', () => {
  const FILE = {
    project_name: 'from-file',
    transports: ['webrtc'],
    mode: 'cascade',
    stt_service: 'deepgram_stt',
    llm_service: 'openai_llm',
    tts_service: 'cartesia_tts',
    recording: true,
    enable_eval: true,
    bot_type: null,
  }

  it('is enough by itself; null is not given', () => {
    expect(resolved({}, FILE)).toMatchObject({
      names: { title: 'from-file' },
      botType: 'web',
      recording: true,
      evals: true,
    })
  })

  it('gives way to what is typed, also to a typed no', () => {
    expect(
      resolved(
        { name: 'typed', recording: false, evals: false, transports: ['room'], tts: 'rime_tts' },
        FILE,
      ),
    ).toMatchObject({
      names: { title: 'typed' },
      transports: ['room'],
      tts: 'rime_tts',
      recording: false,
      evals: false,
    })
    expect(resolved({ video: 'simli_video' }, { ...FILE, video_output: false }).videoOutput).toBe(true)
  })

  it('loses what is void beside what is typed, and that is told', () => {
    const realtime = { mode: 'realtime', realtime: 'openai_realtime' }
    expect(resolved(realtime, FILE)).toMatchObject({ mode: 'realtime', realtime: 'openai_realtime' })
    expect(notices(realtime, FILE)).toEqual([
      'stt_service in bot.json does not count, because of --mode.',
      'llm_service in bot.json does not count, because of --mode.',
      'tts_service in bot.json does not count, because of --mode.',
    ])
    const client = { ...FILE, bot_type: 'web', client_framework: 'react', client_server: 'nextjs' }
    expect(resolved({ clientFramework: 'none' }, client).clientServer).toBeUndefined()
    expect(resolved({ clientFramework: 'vanilla' }, client).clientServer).toBe('vite')
    expect(resolved({ transports: ['telephony_a'] }, client)).toMatchObject({
      botType: 'telephony',
      clientFramework: 'none',
    })
    expect(brief({ recording: true }, { ...client, client_framework: 'none' })).toEqual([
      'no_effect --client-server',
    ])
  })

  it('is named in messages', () => {
    expect(problems({}, { ...FILE, mode: 'casade' })[0]).toMatchObject({
      field: 'mode',
      flag: '--mode',
      message: 'mode in bot.json cannot be "casade".',
      suggestion: 'cascade',
    })
    const contradictory = { ...FILE, mode: 'realtime', realtime_service: 'openai_realtime' }
    expect(brief({}, contradictory)).toEqual(['no_effect --stt', 'no_effect --llm', 'no_effect --tts'])
    expect(problems({}, contradictory)[0]?.message).toBe(
      'stt_service in bot.json has no effect in realtime mode; it is for --mode cascade.',
    )
  })

  it.each([
    ['stt', 'stt_service'],
    ['name', 'project_name'],
    ['eval', 'enable_eval'],
    ['observability', 'enable_observability'],
    ['transport', 'transports'],
    ['recordng', 'recording'],
    ['client-framework', 'client_framework'],
  ])('has no key %s, but %s', (key, suggestion) => {
    expect(problems({}, { ...FILE, [key]: null })).toEqual([
      {
        field: key,
        flag: '--config',
        code: 'unknown_key',
        message: `bot.json has the key "${key}", which is unknown.`,
        allowed: SCAFFOLD_OPTIONS.map(({ field }) => field),
        suggestion,
      },
    ])
  })

  it('lists its keys when one is like no other', () => {
    expect(problems({}, { ...FILE, __proto__x: 1 })[0]?.allowed).toEqual(
      SCAFFOLD_OPTIONS.map(({ field }) => field),
    )
  })

  it.each([
    [
      'transports',
      'room',
      'transports in bot.json must be a list of words, not the text "room".',
      '["room"]',
    ],
    [
      'transports',
      ['room', 1],
      'transports in bot.json must be a list of words, but its entry 2 is 1.',
      undefined,
    ],
    [
      'deploy_to_cloud',
      'no',
      'deploy_to_cloud in bot.json must be true or false, not the text "no".',
      'false',
    ],
    ['recording', 1, 'recording in bot.json must be true or false, not 1.', undefined],
    ['mode', ['cascade'], 'mode in bot.json must be a text, not a list.', undefined],
    ['project_name', { a: 1 }, 'project_name in bot.json must be a text, not an object.', undefined],
  ])('has types: %s cannot be %j', (key, value, message, suggestion) => {
    const found = problems({}, { ...FILE, [key]: value })
    expect(found).toMatchObject([{ field: key, code: 'wrong_type', message }])
    expect(found[0]?.suggestion).toBe(suggestion)
  })

  it('says what a value of the wrong type could be', () => {
    expect(problems({}, { ...FILE, mode: 1 })[0]?.allowed).toEqual(['cascade', 'realtime'])
    expect(problems({}, { ...FILE, transports: 'x' })[0]?.allowed).toContain('webrtc')
    expect(problems({}, { ...FILE, recording: 'x' })[0]?.allowed).toBeUndefined()
  })

  it.each([
    ['[]', 'wrong_type', 'bot.json must be a JSON object, not a list.'],
    ['null', 'wrong_type', 'bot.json must be a JSON object, not null.'],
    ['{\n "mode": x}', 'bad_json', 'bot.json is not JSON: line 2, column 10: a value is expected here.'],
    ['', 'bad_json', 'bot.json is not JSON: line 1, column 1: it ends too early.'],
    [`"${'x'.repeat(64 * 1024)}"`, 'bad_json', 'bot.json is no config file: it is longer than 64 KiB.'],
  ])('text %# is none, and nothing is said to be missing', (text, code, message) => {
    expect(problems({ stt: 'nope' }, text)).toMatchObject([
      { field: 'config', flag: '--config', code, message },
      { field: 'stt_service', code: 'unknown_value' },
    ])
  })
})

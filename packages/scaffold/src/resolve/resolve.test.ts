import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FlagValues } from '../options/option.ts'
import { anyFlags } from '../testing/arbitrary.ts'
import { brief, problems, resolved, run } from '../testing/resolving.ts'
import { problemLine } from './problem.ts'
import { resolve } from './resolve.ts'

const CASCADE: FlagValues = {
  mode: 'cascade',
  stt: 'deepgram_stt',
  llm: 'openai_llm',
  tts: 'cartesia_tts',
}
const WEB: FlagValues = { transports: ['webrtc'], ...CASCADE }
const PHONE: FlagValues = { transports: ['telephony_a'], ...CASCADE }
const REALTIME: FlagValues = { transports: ['webrtc'], mode: 'realtime', realtime: 'openai_realtime' }

describe('what follows from the rest', () => {
  it('is everything that was not given', () => {
    expect(resolved(WEB)).toEqual({
      names: { title: 'my-bot', python: 'my-bot', npm: 'my-bot', agent: 'my-bot' },
      botType: 'web',
      transports: ['webrtc'],
      mode: 'cascade',
      stt: 'deepgram_stt',
      llm: 'openai_llm',
      tts: 'cartesia_tts',
      clientFramework: 'none',
      recording: false,
      transcription: false,
      videoInput: false,
      videoOutput: false,
      deployToCloud: true,
      noiseFilter: false,
      observability: false,
      evals: false,
    })
  })

  it.each([
    [['webrtc'], 'web'],
    [['room', 'websocket'], 'web'],
    [['telephony_c'], 'telephony'],
    [['webrtc', 'telephony_a'], 'telephony'],
  ])('the bot type of %j is %s', (transports, botType) => {
    expect(resolved({ ...CASCADE, transports })).toMatchObject({ botType, transports })
  })

  it('is telephony for calls of rooms', () => {
    const sip = { ...CASCADE, transports: ['telephony_a_room_sip'], sipMode: 'dial-in' }
    expect(resolved(sip)).toMatchObject({ botType: 'telephony', sipMode: 'dial-in' })
    const pstn = { ...CASCADE, transports: ['room_pstn'], pstnMode: 'dial-out' }
    expect(resolved(pstn)).toMatchObject({ botType: 'telephony', pstnMode: 'dial-out' })
  })

  it('is a web transport in a telephony bot, for trying it out', () => {
    expect(resolved({ ...WEB, botType: 'telephony' })).toMatchObject({ botType: 'telephony' })
  })

  it.each([
    [{ clientFramework: 'react' }, 'vite'],
    [{ clientFramework: 'react', clientServer: 'nextjs' }, 'nextjs'],
    [{ clientFramework: 'vanilla' }, 'vite'],
    [{ clientFramework: 'vanilla', clientServer: 'vite' }, 'vite'],
    [{ clientFramework: 'none' }, undefined],
  ])('the server of %j is %s', (flags, server) => {
    expect(resolved({ ...WEB, ...flags }).clientServer).toBe(server)
  })

  it('is video output for an avatar', () => {
    expect(resolved({ ...WEB, video: 'simli_video' })).toMatchObject({
      video: 'simli_video',
      videoOutput: true,
    })
  })

  it('is a valid name, which is told when it is another one', () => {
    const result = run({ ...WEB, name: 'My Bot' })
    expect(result).toMatchObject({
      ok: true,
      configuration: { names: { title: 'My Bot', agent: 'my-bot' } },
      notices: ['For Python, npm and the cloud its name is my-bot.'],
    })
    expect(run(WEB)).toMatchObject({ notices: [] })
  })
})

describe('what is missing', () => {
  it('is listed all together', () => {
    expect(brief({ recording: true })).toEqual(['missing --transport', 'missing --mode'])
    expect(brief({ mode: 'cascade' })).toEqual([
      'missing --transport',
      'missing --stt',
      'missing --llm',
      'missing --tts',
    ])
    expect(brief({ transports: [], mode: 'realtime' })).toEqual(['missing --transport', 'missing --realtime'])
    expect(brief({ ...CASCADE, transports: ['room_pstn'] })).toEqual(['missing --daily-pstn-mode'])
    expect(brief({ ...CASCADE, transports: ['telephony_a_room_sip'] })).toEqual([
      'missing --twilio-daily-sip-mode',
    ])
  })

  it('includes what the services that were given ask for, with a mode to suggest', () => {
    const found = problems({ transports: ['webrtc'], stt: 'deepgram_stt', llm: 'openai_llm' })
    expect(found.map(({ flag }) => flag)).toEqual(['--mode', '--tts'])
    expect(found[0]).toMatchObject({ suggestion: 'cascade', allowed: ['cascade', 'realtime'] })
    expect(problems({ transports: ['webrtc'], realtime: 'openai_realtime' })).toMatchObject([
      { flag: '--mode', suggestion: 'realtime' },
    ])
  })

  it('includes what either mode would ask for, when nothing tells which one is meant', () => {
    const [, mode] = problems({ recording: true })
    expect(mode?.message).toBe(
      '--mode is missing. How the bot works. Then cascade needs --stt, --llm, --tts; realtime needs --realtime.',
    )
    expect(problems({ transports: ['webrtc'], stt: 'deepgram_stt' })[0]?.message).toBe(
      '--mode is missing. How the bot works.',
    )
  })

  it('is not hidden by a mistake beside it', () => {
    expect(brief({ transports: ['webrtc'], mode: 'realtim' })).toEqual([
      'unknown_value --mode',
      'missing --realtime',
    ])
    expect(brief({ ...CASCADE, transports: ['room_pstn', 'banana'] })).toEqual([
      'unknown_value --transport',
      'missing --daily-pstn-mode',
    ])
    expect(brief({ ...CASCADE, transports: ['telephony_a', 'banana'], clientFramework: 'react' })).toEqual([
      'unknown_value --transport',
      'no_effect --client-framework',
    ])
    expect(brief({ ...CASCADE, transports: ['telephony_a', 'banana'], botType: 'web' })).toEqual([
      'unknown_value --transport',
      'conflict --transport',
    ])
  })

  it('comes with the flag, the allowed values and a sentence', () => {
    const [first] = problems({ ...WEB, transports: ['room_pstn'] })
    expect(first).toEqual({
      field: 'daily_pstn_mode',
      flag: '--daily-pstn-mode',
      code: 'missing',
      message: '--daily-pstn-mode is missing. Who calls, with --transport room_pstn.',
      allowed: ['dial-in', 'dial-out'],
    })
    expect(first && problemLine(first)).toMatch(/room_pstn\. Allowed: dial-in, dial-out\.$/)
  })
})

describe('unknown values', () => {
  it.each([
    [{ ...WEB, stt: 'deepgrm_stt' }, '--stt', 'deepgram_stt'],
    [{ ...WEB, stt: 'Deepgram' }, '--stt', 'deepgram_stt'],
    [{ ...WEB, stt: 'deepgrm' }, '--stt', 'deepgram_stt'],
    [{ ...CASCADE, transports: ['smallwebrtc'] }, '--transport', 'webrtc'],
    [{ ...CASCADE, transports: ['daily'] }, '--transport', 'room'],
    [{ ...CASCADE, transports: ['daily_pstn_dialin'] }, '--transport', 'room_pstn'],
    [{ ...CASCADE, transports: ['twilio_daily_sip'] }, '--transport', 'telephony_a_room_sip'],
    [{ ...WEB, llm: 'gemini' }, '--llm', 'google_gemini_llm'],
    [{ ...WEB, llm: 'no_such_llm' }, '--llm', undefined],
    [{ ...REALTIME, realtime: 'ultravox' }, '--realtime', 'ultravox_realtime'],
    [{ ...WEB, transports: ['webrct'] }, '--transport', 'webrtc'],
    [{ ...CASCADE, transports: ['twilio'] }, '--transport', 'telephony_a'],
    [{ ...WEB, mode: 'Cascade' }, '--mode', 'cascade'],
    [{ ...WEB, botType: 'phone' }, '--bot-type', undefined],
    [{ ...WEB, clientFramework: 'raect' }, '--client-framework', 'react'],
    [{ ...WEB, clientFramework: 'react', clientServer: 'next' }, '--client-server', 'nextjs'],
    [{ ...WEB, video: 'simli' }, '--video', 'simli_video'],
    [{ ...CASCADE, transports: ['room_pstn'], pstnMode: 'dialin' }, '--daily-pstn-mode', 'dial-in'],
  ])('%j', (flags, flag, suggestion) => {
    const found = problems(flags)
    expect(found).toMatchObject([{ code: 'unknown_value', flag }])
    expect(found[0]?.suggestion).toBe(suggestion)
    expect(found[0]?.allowed?.length).toBeGreaterThan(1)
  })

  it('are found even when the mode is wrong', () => {
    expect(brief({ transports: ['x'], mode: 'y', stt: 'z' })).toEqual([
      'unknown_value --transport',
      'unknown_value --mode',
      'unknown_value --stt',
      'missing --llm',
      'missing --tts',
    ])
  })

  it('are shown on one line, however long they are', () => {
    const [found] = problems({ ...WEB, mode: `a\n${'b'.repeat(500)}` })
    expect(found?.message).toBe(`--mode cannot be "a\\n${'b'.repeat(78)}…".`)
  })
})

describe('what would have no effect', () => {
  it.each<[FlagValues, string]>([
    [{ ...REALTIME, stt: 'deepgram_stt' }, '--stt'],
    [{ ...REALTIME, llm: 'openai_llm' }, '--llm'],
    [{ ...REALTIME, tts: 'nonsense' }, '--tts'],
    [{ ...WEB, realtime: 'openai_realtime' }, '--realtime'],
    [{ ...PHONE, clientFramework: 'react' }, '--client-framework'],
    [{ ...PHONE, clientFramework: 'none' }, '--client-framework'],
    [{ ...PHONE, clientServer: 'vite' }, '--client-server'],
    [{ ...WEB, clientServer: 'vite' }, '--client-server'],
    [{ ...WEB, clientFramework: 'none', clientServer: 'vite' }, '--client-server'],
    [{ ...PHONE, video: 'simli_video' }, '--video'],
    [{ ...PHONE, videoInput: true }, '--video-input'],
    [{ ...PHONE, transports: ['telephony_a', 'webrtc'], videoOutput: true }, '--video-output'],
    [{ ...CASCADE, transports: ['websocket'], videoInput: true }, '--video-input'],
    [{ ...CASCADE, transports: ['websocket'], videoOutput: true }, '--video-output'],
    [{ ...CASCADE, transports: ['websocket'], video: 'simli_video' }, '--video'],
    [{ ...WEB, pstnMode: 'dial-in' }, '--daily-pstn-mode'],
    [{ ...PHONE, sipMode: 'dial-in' }, '--twilio-daily-sip-mode'],
    [{ ...WEB, deployToCloud: false, noiseFilter: true }, '--enable-noise-filter'],
  ])('%j', (flags, flag) => {
    expect(brief(flags)).toEqual([`no_effect ${flag}`])
    expect(problems(flags)[0]?.message).toMatch(/^--[a-z-]+ has no effect .+\.$/)
  })

  it.each<[FlagValues]>([
    [{ ...PHONE, videoInput: false }],
    [{ ...WEB, deployToCloud: false, noiseFilter: false }],
    [{ ...WEB, recording: false }],
    [{ ...CASCADE, transports: ['websocket', 'room'], videoInput: true }],
  ])('%j is no such thing', (flags) => {
    expect(brief(flags)).toEqual([])
  })

  it('is not said of what depends on a mistake', () => {
    expect(
      brief({ ...CASCADE, transports: ['telefony_a'], video: 'simli_video', pstnMode: 'dial-in' }),
    ).toEqual(['unknown_value --transport'])
    expect(brief({ ...WEB, clientFramework: 'x', clientServer: 'vite' })).toEqual([
      'unknown_value --client-framework',
    ])
  })
})

describe('what cannot go together', () => {
  it.each<[FlagValues, readonly string[]]>([
    [{ ...PHONE, botType: 'web' }, ['conflict --transport']],
    [
      { ...CASCADE, botType: 'web', transports: ['telephony_a', 'webrtc', 'telephony_b'] },
      ['conflict --transport', 'conflict --transport'],
    ],
    [{ ...WEB, transports: ['webrtc', 'webrtc'] }, ['duplicate --transport']],
    [{ ...WEB, transports: ['webrtc', 'room', 'webrtc', 'webrtc'] }, ['duplicate --transport']],
    [
      {
        ...CASCADE,
        transports: ['room_pstn', 'telephony_a_room_sip'],
        pstnMode: 'dial-in',
        sipMode: 'dial-in',
      },
      ['conflict --transport'],
    ],
    [{ ...CASCADE, transports: ['room_pstn', 'telephony_a'], pstnMode: 'dial-in' }, ['conflict --transport']],
    [{ ...WEB, clientFramework: 'vanilla', clientServer: 'nextjs' }, ['conflict --client-server']],
    [{ ...WEB, video: 'simli_video', videoOutput: false }, ['conflict --video-output']],
  ])('%j', (flags, expected) => {
    expect(brief(flags)).toEqual(expected)
  })

  it('does not forbid several carriers', () => {
    expect(brief({ ...CASCADE, transports: ['telephony_a', 'telephony_d', 'webrtc'] })).toEqual([])
  })
})

describe('names', () => {
  it.each([[''], ['!!!'], ['机器人']])('%j is none', (name) => {
    expect(brief({ ...WEB, name })).toEqual(['unusable_name --name'])
  })

  it('can be missing in a folder without one', () => {
    const result = resolve({ flags: WEB, directoryName: '' })
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'unusable_name', flag: '--name' }] })
  })
})

describe('whatever is given', () => {
  it('gives a configuration or at least one problem, and never throws', () => {
    const config = fc.option(
      fc.oneof(
        fc.json(),
        fc.string(),
        anyFlags.map((flags) => JSON.stringify(flags)),
      ),
      {
        nil: undefined,
      },
    )
    fc.assert(
      fc.property(anyFlags, config, fc.string(), (flags, text, directoryName) => {
        const configFile = text === undefined ? {} : { configFile: { path: 'bot.json', text } }
        const result = resolve({ flags, directoryName, ...configFile })
        if (result.ok) return
        expect(result.problems.length).toBeGreaterThan(0)
        for (const problem of result.problems) {
          expect(problemLine(problem)).toMatch(/^\S[^\n]*[.?]$/)
          expect(problem.flag).toMatch(/^--[a-z-]+$/)
          if (problem.suggestion !== undefined && problem.code === 'unknown_value') {
            expect(problem.allowed).toContain(problem.suggestion)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })
})

it('refuses video of callers for services that do not look at it', () => {
  const video = { transports: ['webrtc'], mode: 'realtime', videoInput: true }
  expect(brief({ ...video, realtime: 'ultravox_realtime' })).toEqual(['no_effect --video-input'])
  expect(resolved({ ...video, realtime: 'gemini_live_realtime' }).videoInput).toBe(true)
  expect(resolved({ ...WEB, videoInput: true }).videoInput).toBe(true)
})

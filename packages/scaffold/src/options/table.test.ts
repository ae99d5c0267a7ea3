import { TRANSPORT_IDS, TRANSPORTS } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { choicesOf } from './allowed.ts'
import { COMMAND_OPTIONS } from './command-options.ts'
import { CONDITIONS } from './conditions.ts'
import { SCAFFOLD_OPTIONS } from './table.ts'
import { callFlows, TRANSPORT_KINDS } from './transports.ts'

const ALL = [...SCAFFOLD_OPTIONS, ...COMMAND_OPTIONS]

describe('the option table', () => {
  it('has every option of the command, and no name twice', () => {
    const flags = ALL.map(({ flag }) => flag)
    expect(flags.toSorted()).toEqual(
      [
        ['name', 'bot-type', 'transport', 'mode', 'stt', 'llm', 'tts', 'realtime', 'video'],
        ['client-framework', 'client-server', 'daily-pstn-mode', 'twilio-daily-sip-mode'],
        ['recording', 'transcription', 'video-input', 'video-output', 'deploy-to-cloud'],
        ['enable-noise-filter', 'observability', 'eval'],
        ['config', 'dry-run', 'list-options', 'force', 'overwrite-guide', 'json'],
      ]
        .flat()
        .toSorted(),
    )
    expect(new Set(flags).size).toBe(flags.length)
    expect(ALL.flatMap(({ flag, short }) => (short === undefined ? [] : `${short} ${flag}`))).toEqual([
      'n name',
      'b bot-type',
      't transport',
      'm mode',
      'c config',
    ])
  })

  it('has every field of the config file', () => {
    expect(SCAFFOLD_OPTIONS.map(({ field }) => field)).toEqual(
      [
        ['project_name', 'bot_type', 'transports', 'mode', 'stt_service', 'llm_service', 'tts_service'],
        ['realtime_service', 'video_service', 'client_framework', 'client_server'],
        ['daily_pstn_mode', 'twilio_daily_sip_mode', 'video_input', 'video_output'],
        ['recording', 'transcription', 'deploy_to_cloud', 'enable_noise_filter'],
        ['enable_observability', 'enable_eval'],
      ].flat(),
    )
  })

  it.each(SCAFFOLD_OPTIONS.map((option) => [option.flag, option] as const))(
    '%s is whole',
    (_flag, option) => {
      expect(option.argument === undefined).toBe(option.kind === 'toggle')
      expect(option.on === undefined).toBe(option.kind !== 'toggle')
      expect(choicesOf(option) === undefined).toBe(option.kind === 'toggle' || option.kind === 'text')
      expect(option.help).toMatch(/^[A-Z].*\.$/)
      expect(option.question).toMatch(/\?$/)
    },
  )

  it('turns only cloud deployment on by itself', () => {
    expect(SCAFFOLD_OPTIONS.filter(({ on }) => on).map(({ key }) => key)).toEqual(['deployToCloud'])
  })

  it('names conditions that cannot be told from nothing', () => {
    expect(Object.values(CONDITIONS).map((condition) => condition.holds({}))).toEqual(
      Object.values(CONDITIONS).map(() => undefined),
    )
  })
})

describe('transports', () => {
  it.each(TRANSPORT_IDS)('%s is called what the protocol calls it', (id) => {
    const { label, telephony } = TRANSPORT_KINDS[id]
    expect({ label, telephony }).toEqual({ label: TRANSPORTS[id].label, telephony: TRANSPORTS[id].telephony })
  })

  it.each([
    [['webrtc', 'room', 'websocket'], 0],
    [['telephony_a', 'telephony_b', 'webrtc'], 1],
    [['room_pstn', 'room'], 1],
    [['room_pstn', 'telephony_a_room_sip'], 2],
    [['telephony_d', 'telephony_a_room_sip'], 2],
  ] as const)('%j have %i ways for phone calls', (transports, count) => {
    expect(callFlows(transports)).toHaveLength(count)
  })
})

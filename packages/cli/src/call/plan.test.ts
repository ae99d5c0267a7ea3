import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeWav } from '@botcli/audio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { CALL_OPTIONS } from './options.ts'
import { planCall } from './plan.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-call-'))
  await writeFile(join(folder, 'hi.wav'), encodeWav({ rate: 44_100, channels: [Int16Array.of(1, 2)] }))
  await writeFile(join(folder, 'odd.wav'), encodeWav({ rate: 11_025, channels: [Int16Array.of(1, 2)] }))
  await writeFile(join(folder, 'song.mp3'), 'ID3 la la la la')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const plan = (...argv: string[]) => planCall(parseOptions(argv, CALL_OPTIONS), folder)

async function problems(...argv: string[]): Promise<readonly string[]> {
  const error = await plan(...argv).catch((thrown: unknown) => thrown)
  return error instanceof UsageError ? error.problems : []
}

describe('the script', () => {
  it('cuts in a second after the bot began, when it is to interrupt', async () => {
    const { script } = await plan('--interrupt', '--keys', '1')
    expect(script.map((step) => step.do)).toEqual([
      'waitForVoice',
      'silence',
      'keys',
      'waitForTurn',
      'hangUp',
    ])
  })

  it('has its steps in the order of the command line, each after a turn of the bot', async () => {
    const { script } = await plan(
      '--keys',
      '1',
      '--say',
      'hi.wav',
      '--speech',
      '1s',
      '--keys',
      '2',
      '--for',
      '9s',
    )
    expect(script).toMatchObject([
      { do: 'waitForTurn' },
      { do: 'keys', keys: '1' },
      { do: 'waitForTurn' },
      { do: 'say', rate: 44_100, name: 'hi.wav', samples: Int16Array.of(1, 2) },
      { do: 'waitForTurn' },
      { do: 'speech', ms: 1000 },
      { do: 'waitForTurn' },
      { do: 'keys', keys: '2' },
      { do: 'waitForTurn', limitMs: 8000 },
      { do: 'hangUp' },
    ])
  })

  it('is two seconds of speech when nothing is said', async () => {
    const { script } = await plan()
    expect(script[1]).toEqual({ do: 'speech', ms: 2000 })
  })
})

describe('the coding', () => {
  it.each([
    [['--as', 'telephony_a'], { codec: 'pcmu', rate: 8000 }],
    [['--as', 'telephony_b', '--codec', 'pcma'], { codec: 'pcma', rate: 8000 }],
    [['--as', 'telephony_b', '--codec', 'l16', '--rate', '16000'], { codec: 'l16', rate: 16_000 }],
    [['--as', 'telephony_b', '--rate', '16000'], { codec: 'l16', rate: 16_000 }],
    [['--as', 'telephony_d'], { codec: 'l16', rate: 8000 }],
    [['--as', 'telephony_d', '--rate', '24000'], { codec: 'l16', rate: 24_000 }],
  ])('%j', async (argv, coding) => {
    expect((await plan(...argv)).coding).toMatchObject(coding)
  })

  it.each([
    [['--as', 'telephony_a', '--codec', 'l16'], 'telephony_a has sound as pcmu at 8000;'],
    [['--as', 'telephony_d', '--rate', '44100'], 'telephony_d has sound as l16 at 8000, l16 at 16000'],
    [['--as', 'telephony_b', '--codec', 'pcma', '--rate', '16000'], 'telephony_b has sound as'],
  ])('not %j', async (argv, why) => {
    expect(await problems(...argv)).toEqual([expect.stringContaining(why)])
  })
})

it('gathers parameters and misbehaviours', async () => {
  const { custom, misbehaviours } = await plan(
    ...['--param', 'plan=gold', '--param', 'x=1', '--misbehave', 'jitter', '--misbehave', 'loss=9'],
  )
  expect(custom).toEqual({ plan: 'gold', x: '1' })
  expect(misbehaviours).toEqual({ jitter: 40, loss: 9 })
})

it('tells everything that is wrong at once', async () => {
  const found = await problems(
    ...['a', 'b', '--as', 'telephony_c', '--param', 'x=1;2', '--say', 'gone.wav', '--say', 'song.mp3'],
    ...['--say', 'odd.wav', '--save', 'no/such/file.wav', '--speech', 'x'],
  )
  expect(found).toEqual([
    expect.stringContaining('--speech must be from'),
    expect.stringContaining('Only one URL'),
    expect.stringContaining('--param x: telephony_c cannot carry'),
    expect.stringContaining('is no folder that can be written to'),
    expect.stringContaining('--say gone.wav: It cannot be read (ENOENT). --say takes a WAV file;'),
    expect.stringContaining('--say song.mp3: This is not a WAV file'),
    expect.stringContaining('--say odd.wav: Its rate is 11025 Hz'),
  ])
})

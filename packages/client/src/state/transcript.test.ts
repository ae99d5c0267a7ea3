import { expect, test } from 'vitest'
import {
  EMPTY_TRANSCRIPT,
  LINES_KEPT,
  lineText,
  type Transcript,
  withMessage,
  withTyped,
} from './transcript.ts'

type Said = readonly [type: string, data?: unknown]

const after = (messages: readonly Said[], from: Transcript = EMPTY_TRANSCRIPT): Transcript =>
  messages.reduce((transcript, [type, data]) => withMessage(transcript, { type, data }, 0), from)

const texts = (transcript: Transcript): readonly string[] =>
  transcript.lines.map((line) => `${line.who}: ${lineText(line)}`)

const output = (text: string, extra: object = {}): Said => [
  'bot-output',
  { text, will_be_spoken: true, ...extra },
]

test('interim speech gives way to what was really said', () => {
  const transcript = after([
    ['user-transcription', { text: 'what is', final: false }],
    ['user-transcription', { text: 'what is the', final: false }],
    ['user-transcription', { text: 'What is the time?', final: true }],
  ])
  expect(texts(transcript)).toEqual(['user: What is the time?'])
  expect(transcript.lines[0]?.segments.map(({ status }) => status)).toEqual(['said'])
})

test('speech that comes as two kinds of message is shown once', () => {
  const transcript = after([
    ['user-input', { text: 'Hello.', input_type: 'transcription', final: true }],
    ['user-transcription', { text: 'Hello.', final: true }],
  ])
  expect(texts(transcript)).toEqual(['user: Hello.'])
})

test('what was typed is shown at once and confirmed by its echo', () => {
  const typed = withTyped(EMPTY_TRANSCRIPT, 'Hi bot', 0)
  expect(typed.lines[0]).toMatchObject({ typed: true, pending: true })
  const echoed = after([['user-input', { text: 'Hi bot', input_type: 'chat' }]], typed)
  expect(echoed.lines).toHaveLength(1)
  expect(echoed.lines[0]?.pending).toBe(false)
})

test('what was typed elsewhere is shown too', () => {
  const transcript = after([['user-input', { text: 'From another tab', input_type: 'chat' }]])
  expect(texts(transcript)).toEqual(['user: From another tab'])
  expect(transcript.lines[0]).toMatchObject({ typed: true, pending: false })
})

test('a sentence of the bot is followed through its being said', () => {
  const key = { segment_id: 4 }
  const announced = after([output('One two three.', { ...key, spoken_status: 'new' })])
  expect(announced.lines[0]?.segments[0]?.status).toBe('unsaid')
  const progress = { spoken_status: 'in-progress', spoken_progress: { accumulated_text: 'One two' } }
  const underway = after([output('One two three.', { ...key, ...progress })], announced)
  expect(underway.lines[0]?.segments[0]).toMatchObject({ status: 'saying', saidLength: 7 })
  const done = after([output('One two three.', { ...key, spoken_status: 'completed' })], underway)
  expect(done.lines).toHaveLength(1)
  expect(done.lines[0]?.segments.map(({ status }) => status)).toEqual(['said'])
})

test('a better source replaces a lesser one, and the lesser is ignored from then on', () => {
  const transcript = after([
    ['bot-llm-text', { text: 'It' }],
    ['bot-llm-text', { text: ' is' }],
    ['bot-tts-text', { text: 'It' }],
    output('It is noon.'),
    ['bot-tts-text', { text: 'is' }],
    ['bot-transcription', { text: 'It is noon.' }],
  ])
  expect(texts(transcript)).toEqual(['bot: It is noon.'])
})

test('tokens bring their own spaces and words do not', () => {
  const tokens: Said[] = ['Good', ' morn', 'ing', '!'].map((text) => ['bot-llm-text', { text }])
  expect(texts(after(tokens))).toEqual(['bot: Good morning!'])
  const words: Said[] = ['Good', 'morning', '!'].map((text) => ['bot-tts-text', { text }])
  expect(texts(after(words))).toEqual(['bot: Good morning!'])
})

test('a new turn of the bot is a new line', () => {
  const between: readonly string[] = [
    'user-started-speaking',
    'bot-stopped-speaking',
    'bot-interrupted',
    'bot-llm-started',
  ]
  for (const type of between) {
    expect(texts(after([output('One.'), [type], output('Two.')]))).toEqual(['bot: One.', 'bot: Two.'])
  }
  expect(texts(after([output('One.'), output('Two.')]))).toEqual(['bot: One. Two.'])
})

test('messages that say nothing change nothing', () => {
  expect(
    after([
      ['metrics', { processing: [] }],
      ['bot-output', {}],
      ['user-transcription', null],
    ]),
  ).toBe(EMPTY_TRANSCRIPT)
})

test('the oldest lines are forgotten beyond the bound, and ids stay unique', () => {
  let transcript = EMPTY_TRANSCRIPT
  for (let n = 0; n < LINES_KEPT + 3; n += 1) transcript = withTyped(transcript, `line ${n}`, 0)
  expect(transcript.lines).toHaveLength(LINES_KEPT)
  expect(lineText(transcript.lines[0] as (typeof transcript.lines)[number])).toBe('line 3')
  expect(new Set(transcript.lines.map(({ id }) => id)).size).toBe(LINES_KEPT)
})

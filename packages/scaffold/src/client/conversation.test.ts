import { describe, expect, it } from 'vitest'
import {
  type Line,
  lineText,
  type Said,
  withSaid,
} from '../../templates/client/shared/src/talk/conversation.ts'

const heard = (text: string, final: boolean): Said => ({
  kind: 'heard',
  transcript: { text, final, timestamp: '', user_id: '' },
})
const output = (text: string, segment_id?: number): Said => ({
  kind: 'output',
  output: { text, ...(segment_id === undefined ? {} : { segment_id }) },
})
const typed = (text: string): Said => ({ kind: 'typed', text })
const TURN: Said = { kind: 'turn' }

function conversation(...said: readonly Said[]): readonly string[] {
  const lines = said.reduce<readonly Line[]>(withSaid, [])
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length)
  return lines.map((line) => `${line.who}: ${lineText(line)}`)
}

describe('the conversation of a generated client', () => {
  it('keeps typed text and its answers in their order', () => {
    const said = [typed('one'), output('One.', 1), typed('two'), output('Two.', 2)]
    expect(conversation(...said)).toEqual(['user: one', 'bot: One.', 'user: two', 'bot: Two.'])
  })

  it('replaces speech that is still being understood', () => {
    const said = [heard('he', false), heard('hello', false), heard('Hello there.', true), heard('How', false)]
    expect(conversation(...said)).toEqual(['user: Hello there. How'])
  })

  it('joins the sentences of an answer, and tells answers apart', () => {
    const said = [output('One.', 1), output(' Two.', 2), TURN, output('Three.', 3)]
    expect(conversation(...said)).toEqual(['bot: One. Two.', 'bot: Three.'])
  })

  it('adds nothing when the bot tells how far it has spoken', () => {
    const said = [output('One.', 1), output('Two.', 2), typed('stop'), output('One.', 1), output('Two.', 2)]
    expect(conversation(...said)).toEqual(['bot: One. Two.', 'user: stop'])
  })

  it('adds every piece of a bot that does not number them', () => {
    expect(conversation(output('One'), output('One'), output('  '))).toEqual(['bot: One One'])
  })

  it('begins anew with each connection, and is bounded', () => {
    expect(conversation(typed('one'), { kind: 'began' }, typed('two'))).toEqual(['user: two'])
    expect(conversation(...Array.from({ length: 300 }, (_, index) => typed(`${index}`)))).toHaveLength(200)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeNames, makeNames } from './names.ts'

describe('names', () => {
  it.each([
    ['my-bot', 'my-bot', 'my-bot'],
    ['My Bot', 'My Bot', 'my-bot'],
    ['my_bot.v2', 'my_bot.v2', 'my-bot-v2'],
    ['  Café  Bot ', 'Café Bot', 'cafe-bot'],
    ["Tom's bot", "Tom's bot", 'toms-bot'],
    ['say "hi"', 'say hi', 'say-hi'],
    ['<script>', 'script', 'script'],
    ['a\nb\u2028c\u0000', 'a b c', 'a-b-c'],
    ['--weird--', '--weird--', 'weird'],
    ['2025', '2025', '2025'],
    ['a', 'a', 'a-bot'],
    ['React', 'React', 'react-bot'],
    ['pipecat_ai', 'pipecat_ai', 'pipecat-ai-bot'],
    ['Requests', 'Requests', 'requests-bot'],
    ['httpx', 'httpx', 'httpx-bot'],
    [`${'x'.repeat(53)}-y`, `${'x'.repeat(53)}-y`, 'x'.repeat(53)],
  ])('%j', (given, title, slug) => {
    expect(makeNames(given)).toEqual({ title, python: slug, npm: slug, agent: slug })
  })

  it.each([[''], ['   '], ['我的机器人'], ['---'], ['"<>"'], ['🤖']])(
    'nothing can be made of %j',
    (given) => {
      expect(makeNames(given)).toBeUndefined()
    },
  )

  it('are valid everywhere, whatever was given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (given) => {
        const names = makeNames(given)
        if (names === undefined) return
        // Each is the rule of the place where the name is used.
        expect(names.agent).toMatch(/^[a-z0-9][-a-z0-9]{0,52}[a-z0-9]$/)
        expect(names.npm).toMatch(/^[a-z0-9][-a-z0-9._~]*$/)
        expect(names.python).toMatch(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/)
        expect(names.title).not.toMatch(/[\p{C}"`\\<>{}$]/u)
        expect(makeNames(names.title)).toEqual(names)
      }),
    )
  })

  it.each([
    ['my-bot', undefined],
    ['My Bot', 'For Python, npm and the cloud its name is my-bot.'],
    [' my-bot', 'The project is called "my-bot". For Python, npm and the cloud its name is my-bot.'],
  ])('says what was changed of %j', (given, text) => {
    const names = makeNames(given)
    expect(names && describeNames(given, names)).toBe(text)
  })
})

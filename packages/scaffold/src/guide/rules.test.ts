import { describe, expect, it } from 'vitest'
import { type GuideAction, type GuideCase, reviewGuide } from './rules.ts'
import { stamped } from './stamp.ts'

const NOW = stamped('# Guide\n', '2.0.0')
const FOUND: Readonly<Record<string, string | undefined>> = {
  absent: undefined,
  same: NOW,
  'same with other ends of lines': NOW.replaceAll('\n', '\r\n'),
  other: stamped('# Guide of another project\n', '2.0.0'),
  older: stamped('# Guide\n', '1.9.0'),
  'older, edited': `${stamped('# Guide\n', '1.9.0')}mine\n`,
  newer: stamped('# Guide\n', '2.0.1'),
  edited: `${NOW}mine\n`,
  foreign: '# My own\n',
}

function guide(found: string): GuideCase {
  return {
    path: 'AGENTS.md',
    planned: NOW,
    existing: FOUND[found],
    version: '2.0.0',
    command: 'botcli init my-bot --overwrite-guide',
  }
}

describe('guides', () => {
  // Found, with --overwrite-guide, at a terminal, without one; whether the last one has something to say.
  it.each<[string, GuideAction, GuideAction, GuideAction, boolean]>([
    ['absent', 'create', 'create', 'create', false],
    ['same', 'keep', 'keep', 'keep', false],
    ['same with other ends of lines', 'keep', 'keep', 'keep', false],
    ['other', 'overwrite', 'ask', 'keep', true],
    ['older', 'overwrite', 'ask', 'keep', true],
    ['older, edited', 'overwrite', 'ask', 'keep', true],
    ['newer', 'overwrite', 'keep', 'keep', true],
    ['edited', 'overwrite', 'keep', 'keep', true],
    ['foreign', 'overwrite', 'keep', 'keep', true],
  ])('%s: %s, %s, %s', (found, withFlag, atTerminal, without, speaks) => {
    expect(reviewGuide(guide(found), { overwrite: true, interactive: true }).action).toBe(withFlag)
    expect(reviewGuide(guide(found), { overwrite: true, interactive: false }).action).toBe(withFlag)
    expect(reviewGuide(guide(found), { overwrite: false, interactive: true }).action).toBe(atTerminal)
    const quiet = reviewGuide(guide(found), { overwrite: false, interactive: false })
    expect(quiet.action).toBe(without)
    expect(quiet.notice !== undefined).toBe(speaks)
  })

  it.each([
    ['older', false],
    ['older, edited', true],
    ['edited', true],
    ['foreign', true],
    ['other', false],
  ])('%s has something to lose: %s', (found, edited) => {
    expect(reviewGuide(guide(found), { overwrite: true, interactive: false }).edited).toBe(edited)
  })

  it('says how to refresh an old one, with the folder', () => {
    expect(reviewGuide(guide('older'), { overwrite: false, interactive: false }).notice).toBe(
      'AGENTS.md was written by botcli 1.9.0, which is older than this one (2.0.0). To refresh it: botcli init my-bot --overwrite-guide',
    )
    expect(reviewGuide(guide('newer'), { overwrite: false, interactive: false }).notice).not.toContain('init')
  })

  it.each([
    ['@AGENTS.md\n', 'same'],
    ['# Mine\n\n@AGENTS.md\r\n', 'extended'],
    ['# Mine\n', 'foreign'],
  ])('an ASSISTANT.md of %j is %s', (existing, state) => {
    const assistant = { ...guide('absent'), path: 'ASSISTANT.md', planned: '@AGENTS.md\n', existing }
    expect(reviewGuide(assistant, { overwrite: false, interactive: true })).toMatchObject({
      state,
      action: 'keep',
    })
    const { notice } = reviewGuide(assistant, { overwrite: false, interactive: false })
    expect(notice !== undefined).toBe(state === 'foreign')
    // Who asks for it gets it.
    const { action } = reviewGuide(assistant, { overwrite: true, interactive: false })
    expect(action).toBe(state === 'same' ? 'keep' : 'overwrite')
  })
})

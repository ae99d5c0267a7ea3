import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEYS, PseudoTerminal } from '../../testing/pseudo-terminal.ts'
import { runCommand } from '../../testing/run-command.ts'
import { treeOf } from '../../testing/tree.ts'

const BIN = fileURLToPath(new URL('../../../bin/botcli.js', import.meta.url))
const { enter, esc, interrupt, space, down, up } = KEYS

let folder: string
let terminal: PseudoTerminal | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-wizard-'))
})
afterEach(async () => {
  terminal?.close()
  await rm(folder, { recursive: true, force: true })
})

function start(...argv: readonly string[]): PseudoTerminal {
  terminal = new PseudoTerminal([process.execPath, BIN, 'init', ...argv], folder)
  return terminal
}

/** Every question of a web bot with everything, and the keys that answer it. */
const WEB: readonly (readonly [question: string, ...keys: string[]])[] = [
  ['Where shall the project go?', enter],
  ['How do you want to begin?', enter],
  ['What is the project called?', 'My Bot 2', enter],
  ['How do people talk to the bot?', enter],
  ['Which client?', up, up, enter],
  ['What builds and serves the client?', down, enter],
  ['Which transport?', enter],
  ['How does the bot listen, think and speak?', enter],
  ['Which speech-to-text service?', 'soniox', enter],
  ['Which language model service?', 'anthropic', enter],
  ['Which text-to-speech service?', enter],
  ['Which features?', space, down, down, down, down, down, space, enter],
  ['Which video avatar service?', enter],
  ['Write the files for cloud deployment?', enter],
  ['Filter noise?', enter],
  ['Make the bot ready for evals?', down, enter],
  ['Make it?', enter],
]

/** Every question of a telephony bot by numbers of rooms, from the second one on. */
const TELEPHONY: typeof WEB = [
  ['How do you want to begin?', enter],
  ['What is the project called?', enter],
  ['How do people talk to the bot?', down, enter],
  ['Which transport?', down, down, down, down, space, enter],
  ['Who calls?', enter],
  ['How does the bot listen, think and speak?', down, enter],
  ['Which realtime service?', 'openai', enter],
  ['Which features?', enter],
  ['Write the files for cloud deployment?', down, enter],
  ['Make the bot ready for evals?', enter],
  ['Make it?', enter],
]

async function answer(on: PseudoTerminal, questions: typeof WEB): Promise<void> {
  for (const [question, ...keys] of questions) {
    await on.seeQuestion(question)
    on.type(...keys)
  }
}

/** The command that the summary showed. */
function shownCommand(screen: string): readonly string[] {
  const line = /^botcli (init [^\r\n]+)/m.exec(screen)?.[1] ?? ''
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

describe('the wizard', () => {
  it.each([
    ['a web bot', [], WEB],
    ['a telephony bot', ['phone-bot'], TELEPHONY],
  ])('makes %s, the same as the command that it shows', async (_name, argv, questions) => {
    const on = start(...argv)
    await answer(on, questions)
    await on.see('Next:')
    expect(await on.ended).toBe(0)
    const [name = ''] = await readdir(folder)
    const made = await treeOf(join(folder, name))
    await rm(join(folder, name), { recursive: true })
    const again = await runCommand(shownCommand(on.screen), folder)
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(await treeOf(join(folder, name))).toEqual(made)
    expect(made.size).toBeGreaterThan(8)
  })

  it.each(WEB.map(([question], index) => [question, index] as const))(
    'is cancelled by Ctrl-C at "%s", and leaves nothing behind',
    async (question, index) => {
      const on = start()
      await answer(on, WEB.slice(0, index))
      await on.seeQuestion(question)
      on.type(interrupt)
      expect(await on.ended).toBe(130)
      expect(on.screen).toContain('Cancelled. Nothing was written.')
      expect(await readdir(folder)).toEqual([])
    },
  )

  it('is cancelled by its last question', async () => {
    const on = start()
    await answer(on, WEB.slice(0, -1))
    await on.seeQuestion('Make it?')
    on.type(down, down, enter)
    expect(await on.ended).toBe(130)
    expect(await readdir(folder)).toEqual([])
  })

  it('goes back by Esc, and forgets what no longer applies', async () => {
    const on = start('my-bot')
    await answer(on, WEB.slice(1, 5))
    await on.seeQuestion('What builds and serves the client?')
    for (const question of ['Which client?', 'How do people talk to the bot?']) {
      on.type(esc)
      await on.seeQuestion(question)
    }
    on.type(down, enter)
    await answer(on, [['Which transport?', space, enter], ...TELEPHONY.slice(5)])
    expect(await on.ended).toBe(0)
    const answers = JSON.parse(await readFile(join(folder, 'my-bot', '.botcli.json'), 'utf8'))
    expect(answers.configuration).toMatchObject({
      bot_type: 'telephony',
      transports: ['telephony_a'],
      client_framework: null,
      realtime_service: 'openai_realtime',
    })
  })

  it('asks the first question again when there is nothing to go back to', async () => {
    const on = start()
    await on.seeQuestion('Where shall the project go?')
    on.type(esc)
    await on.seeQuestion('Where shall the project go?')
    on.type(interrupt)
    expect(await on.ended).toBe(130)
  })

  it('refuses ways of phone calls that cannot live together', async () => {
    const on = start('my-bot')
    await answer(on, TELEPHONY.slice(0, 3))
    await on.seeQuestion('Which transport?')
    on.type(space, down, down, down, down, space, enter)
    await on.see('Phone calls come in different ways with these')
    await on.seeQuestion('Which transport?')
    on.type(space, enter)
    await on.seeQuestion('Who calls?')
  })

  it('does not take a file for a folder, or the ready-made bot for a name', async () => {
    await writeFile(join(folder, 'my-bot'), '')
    const on = start()
    await on.seeQuestion('Where shall the project go?')
    on.type(enter)
    await on.see('A file of that name is there.')
    on.type('quickstart', enter)
    await on.see('is the ready-made bot')
  })

  it('stays where nothing matches, and goes on when something does', async () => {
    const on = start('my-bot')
    await answer(on, [...WEB.slice(1, 4), ['Which client?', enter], ...WEB.slice(6, 8)])
    await on.seeQuestion('Which speech-to-text service?')
    on.type('zzzz', enter)
    await on.see('Nothing is called that.')
    on.type('\u007F\u007F\u007F\u007F', 'soniox', enter)
    await on.seeQuestion('Which language model service?')
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends by %s with the code %i', async (signal, code) => {
    const on = start()
    await on.seeQuestion('Where shall the project go?')
    on.signal(signal)
    expect(await on.ended).toBe(code)
    expect(await readdir(folder)).toEqual([])
  })

  it('ends when its terminal goes away', async () => {
    const on = start()
    await on.seeQuestion('Where shall the project go?')
    on.hangUp()
    expect(await on.ended).not.toBe(0)
    expect(await readdir(folder)).toEqual([])
  })
})

describe('the way of coding agents', () => {
  it('writes the guides and nothing else', async () => {
    const on = start('.')
    await on.seeQuestion('How do you want to begin?')
    on.type('k', enter)
    await on.see('coding agent')
    expect(await on.ended).toBe(0)
    expect((await readdir(folder)).toSorted()).toEqual(['AGENTS.md', 'ASSISTANT.md', 'GETTING_STARTED.md'])
  })

  it('does not take a project for an empty folder', async () => {
    await runCommand(['init', 'quickstart'], folder)
    const before = await treeOf(folder)
    const on = start('bot-quickstart')
    await on.seeQuestion('How do you want to begin?')
    on.type('k', enter)
    expect(await on.ended).toBe(0)
    expect(await treeOf(folder)).toEqual(before)
  })

  it('does not call a folder with a bot empty', async () => {
    await runCommand(['init', 'quickstart'], folder)
    await rm(join(folder, 'bot-quickstart', '.botcli.json'))
    const before = await treeOf(folder)
    const on = start('bot-quickstart')
    await on.seeQuestion('How do you want to begin?')
    on.type('k', enter)
    await on.see('has a bot, but no .botcli.json')
    expect(await on.ended).toBe(1)
    expect(await treeOf(folder)).toEqual(before)
  })

  it.each([
    ['refreshes a guide of an older version', enter, true],
    ['keeps it if asked to', `${down}${enter}`, false],
  ])('%s', async (_name, keys, refreshed) => {
    await runCommand(['init', 'quickstart'], folder)
    const guide = join(folder, 'bot-quickstart', 'AGENTS.md')
    const fresh = await readFile(guide, 'utf8')
    const old = fresh.replace(/^<!-- botcli \S+/, '<!-- botcli 0.0.1')
    await writeFile(guide, old)
    const on = start('bot-quickstart')
    await on.seeQuestion('How do you want to begin?')
    on.type('k', enter)
    await on.seeQuestion('AGENTS.md was written by an older botcli. Refresh it?')
    on.type(keys)
    expect(await on.ended).toBe(0)
    expect(await readFile(guide, 'utf8')).toBe(refreshed ? fresh : old)
  })
})

describe('what is in the way', () => {
  it.each([
    ['stops', enter, 1, 'mine'],
    ['overwrites', `${down}${enter}`, 0, undefined],
  ])('is listed, and the wizard %s', async (_name, keys, code, kept) => {
    await writeFile(join(folder, 'README.md'), 'mine')
    const on = start('.')
    await on.see('This folder is not empty.')
    await answer(on, [
      ...TELEPHONY.slice(0, 1),
      ['What is the project called?', 'x', enter],
      ...TELEPHONY.slice(2),
    ])
    await on.see('README.md: the file is there, with other content')
    await on.seeQuestion('What shall happen?')
    on.type(keys)
    expect(await on.ended).toBe(code)
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    if (kept === undefined) expect(readme).not.toBe('mine')
    else expect(await readdir(folder)).toEqual(['README.md'])
  })
})

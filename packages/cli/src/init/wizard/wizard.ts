import { readdirSync, statSync } from 'node:fs'
import { problemLine, QUICKSTART, resolve, ScaffoldError } from '@botcli/scaffold'
import { makeGuides } from '../guides.ts'
import type { Manner } from '../manner.ts'
import { invalid, type Outcome } from '../outcome.ts'
import { type Place, placeAt, recall } from '../place.ts'
import { makeProject } from '../project.ts'
import type { Terminal } from '../terminal.ts'
import { askerOn } from './asker.ts'
import { interview, type Question } from './interview.ts'
import { BACK, Prompts } from './prompts.ts'
import { PROJECT_QUESTIONS } from './questions.ts'
import { summaryLines } from './summary.ts'

/** What the questions begin with. */
export interface WizardInput {
  /** Asked for when it is not given. */
  readonly place: Place | undefined
  readonly cwd: string
  readonly manner: Manner
  readonly terminal: Terminal
}

/** Asks what to make, and makes it. Nothing is written before the last answer. */
export async function runWizard({ place, cwd, manner, terminal }: WizardInput): Promise<Outcome> {
  const prompts = new Prompts(terminal, manner.signal)
  try {
    prompts.begin('botcli init: a new voice bot. Esc goes back, Ctrl-C cancels.')
    const questions = [directoryQuestion(cwd), wayQuestion(), ...PROJECT_QUESTIONS, summaryQuestion()]
    const answers = await interview(prompts, questions, {
      flags: {},
      ...(place === undefined ? {} : { place }),
    })
    const chosen = answers.place
    if (chosen === undefined) throw new Error('the wizard ended without a folder')
    const asking: Manner = { ...manner, asker: askerOn(prompts) }
    if (answers.way === 'agent') return await makeGuides(chosen, await recall(chosen), asking)
    const resolution = resolve({ flags: answers.flags, directoryName: chosen.name })
    if (!resolution.ok) return invalid(resolution.problems)
    return await makeProject(chosen, resolution.configuration, resolution.notices, asking)
  } finally {
    prompts.close()
  }
}

function directoryQuestion(cwd: string): Question {
  return {
    applies: ({ place }) => place === undefined,
    async ask(prompts, _answers, old) {
      const answer = await prompts.text('Where shall the project go? (. is this folder)', {
        suggestion: old.place?.shown ?? 'my-bot',
        check: (text) => directoryProblem(cwd, text),
      })
      return answer === BACK ? BACK : { place: placeAt(cwd, answer.trim()) }
    },
  }
}

function directoryProblem(cwd: string, text: string): string | undefined {
  const typed = text.trim()
  if (typed === '') return 'It needs a name.'
  if (typed === QUICKSTART) {
    return `${QUICKSTART} is the ready-made bot: botcli init ${QUICKSTART}. Take ./${QUICKSTART} for a folder of that name.`
  }
  const entry = statSync(placeAt(cwd, typed).path, { throwIfNoEntry: false })
  return entry === undefined || entry.isDirectory() ? undefined : 'A file of that name is there.'
}

function wayQuestion(): Question {
  return {
    applies: () => true,
    async ask(prompts, { place }, old) {
      if (place !== undefined && !isEmpty(place)) {
        prompts.say(`${where(place)} is not empty. What is in the way is shown before anything is written.`)
      }
      const answer = await prompts.select(
        'How do you want to begin?',
        [
          { value: 'agent', label: 'Build with a coding agent', hint: 'writes guides that tell it how' },
          { value: 'scaffold', label: 'Scaffold a bot now', hint: 'a few questions' },
        ],
        old.way ?? 'scaffold',
      )
      return answer === BACK ? BACK : { way: answer }
    },
  }
}

/** Whether there is nothing in a folder; one that cannot be read will be told later. */
function isEmpty({ path }: Place): boolean {
  try {
    return readdirSync(path).length === 0
  } catch {
    return true
  }
}

function where({ shown }: Place): string {
  return shown === '.' ? 'This folder' : `The folder ${shown}`
}

function summaryQuestion(): Question {
  return {
    applies: ({ way }) => way === 'scaffold',
    async ask(prompts, { place, flags }) {
      if (place === undefined) return BACK
      const resolution = resolve({ flags, directoryName: place.name })
      if (!resolution.ok) {
        prompts.warn(resolution.problems.map(problemLine).join('\n'))
        return BACK
      }
      prompts.show(summaryLines(place, resolution.configuration))
      const answer = await prompts.select(
        'Make it?',
        [
          { value: 'make', label: 'Yes' },
          { value: 'back', label: 'Go back' },
          { value: 'cancel', label: 'Cancel' },
        ],
        'make',
      )
      if (answer === 'cancel') throw new ScaffoldError('cancelled', 'Cancelled. Nothing was written.')
      return answer === 'make' ? {} : BACK
    },
  }
}

import type { FlagValues } from '@botcli/scaffold'
import type { Place } from '../place.ts'
import { BACK, type Prompts } from './prompts.ts'

/** What is known so far. */
export interface Answers {
  readonly place?: Place
  /** Who makes the project: a coding agent, or we, now. */
  readonly way?: 'agent' | 'scaffold'
  readonly wantsAvatar?: boolean
  readonly flags: FlagValues
}

/** One question. */
export interface Question {
  /** Whether it has to be asked, after these answers. */
  applies(answers: Answers): boolean
  /** Asks it. `old` is what was answered before the user went back, for this question and later ones. */
  ask(prompts: Prompts, answers: Answers, old: Answers): Promise<Partial<Answers> | typeof BACK>
}

/** Asks one question after the other, as often as the user goes back. */
export async function interview(
  prompts: Prompts,
  questions: readonly Question[],
  start: Answers,
): Promise<Answers> {
  const asked: { readonly index: number; readonly before: Answers }[] = []
  let answers = start
  let old = start
  let index = 0
  while (index < questions.length) {
    const question = questions[index]
    if (question === undefined || !question.applies(answers)) {
      index += 1
      continue
    }
    const answer = await question.ask(prompts, answers, old)
    if (answer === BACK) {
      // There is nothing before the first question: it is asked again.
      const previous = asked.pop() ?? { index, before: answers }
      index = previous.index
      answers = previous.before
      continue
    }
    asked.push({ index, before: answers })
    answers = merge(answers, answer)
    old = merge(old, answer)
    index += 1
  }
  return answers
}

function merge(answers: Answers, more: Partial<Answers>): Answers {
  return { ...answers, ...more, flags: { ...answers.flags, ...more.flags } }
}

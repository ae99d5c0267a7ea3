import {
  CONDITIONS,
  callFlows,
  choicesOf,
  draftOf,
  type FlagValues,
  makeNames,
  optionByKey,
  QUICKSTART_CONFIGURATION,
  type ScaffoldKey,
  type ScaffoldTransport,
  TELEPHONY_TRANSPORTS,
  type TextKey,
  type ToggleKey,
  TRANSPORT_KINDS,
  WEB_TRANSPORTS,
} from '@botcli/scaffold'
import type { Answers, Question } from './interview.ts'
import { BACK, type Item } from './prompts.ts'

/** Toggles that are asked together. */
const FEATURES: readonly ToggleKey[] = [
  'recording',
  'transcription',
  'videoInput',
  'videoOutput',
  'observability',
]
const AVATAR = 'avatar'

/** Everything that is asked about a project, in this order. Words and conditions are those of the option table. */
export const PROJECT_QUESTIONS: readonly Question[] = [
  nameQuestion(),
  choiceQuestion('botType', 'web'),
  choiceQuestion('clientFramework', 'none'),
  choiceQuestion('clientServer', 'vite', ({ clientFramework }) => clientFramework === 'react'),
  transportQuestion(),
  choiceQuestion('pstnMode', 'dial-in'),
  choiceQuestion('sipMode', 'dial-in'),
  choiceQuestion('mode', 'cascade'),
  serviceQuestion('stt', QUICKSTART_CONFIGURATION.stt),
  serviceQuestion('llm', QUICKSTART_CONFIGURATION.llm),
  serviceQuestion('tts', QUICKSTART_CONFIGURATION.tts),
  serviceQuestion('realtime', undefined),
  featureQuestion(),
  serviceQuestion('video', undefined, ({ wantsAvatar }) => wantsAvatar === true),
  toggleQuestion('deployToCloud'),
  toggleQuestion('noiseFilter'),
  toggleQuestion('evals'),
]

function nameQuestion(): Question {
  return {
    applies: ({ way }) => way === 'scaffold',
    async ask(prompts, { place }, old) {
      const answer = await prompts.text(optionByKey('name').question, {
        suggestion: old.flags.name ?? place?.name ?? '',
        check: (text) =>
          makeNames(text) === undefined ? 'It needs a letter (a to z) or a digit.' : undefined,
      })
      return answer === BACK ? BACK : { flags: { name: answer } }
    },
  }
}

function choiceQuestion(
  key: TextKey,
  initial: string,
  also: (flags: FlagValues) => boolean = () => true,
): Question {
  return {
    applies: (answers) => isApplicable(key, answers) && also(answers.flags),
    async ask(prompts, _answers, old) {
      const items = choicesOf(optionByKey(key)) ?? []
      const answer = await prompts.select(optionByKey(key).question, items, old.flags[key] ?? initial)
      return answer === BACK ? BACK : { flags: { [key]: answer } }
    },
  }
}

function serviceQuestion(
  key: TextKey,
  initial: string | undefined,
  also: (answers: Answers) => boolean = () => true,
): Question {
  return {
    applies: (answers) => isApplicable(key, answers) && also(answers),
    async ask(prompts, _answers, old) {
      const items = (choicesOf(optionByKey(key)) ?? [])
        .map(({ value, label }) => ({ value, label, hint: value }))
        .toSorted((a, b) => a.label.localeCompare(b.label, 'en'))
      const answer = await prompts.filter(optionByKey(key).question, items, old.flags[key] ?? initial)
      return answer === BACK ? BACK : { flags: { [key]: answer } }
    },
  }
}

function toggleQuestion(key: ToggleKey): Question {
  return {
    applies: (answers) => isApplicable(key, answers),
    async ask(prompts, _answers, old) {
      const { question, on = false } = optionByKey(key)
      const answer = await prompts.confirm(question, old.flags[key] ?? on)
      return answer === BACK ? BACK : { flags: { [key]: answer } }
    },
  }
}

function transportQuestion(): Question {
  return {
    applies: ({ way }) => way === 'scaffold',
    async ask(prompts, { flags }, old) {
      const telephony = flags.botType === 'telephony'
      const items = transportItems(telephony)
      let initial = items.map(({ value }) => value).filter((id) => old.flags.transports?.includes(id))
      if (initial.length === 0 && !telephony) initial = ['webrtc']
      for (;;) {
        const answer = await prompts.several(optionByKey('transports').question, items, {
          initial,
          required: true,
        })
        if (answer === BACK) return BACK
        const problem = telephony ? phoneProblem(answer) : undefined
        if (problem === undefined) return { flags: { transports: answer } }
        prompts.warn(problem)
        initial = [...answer]
      }
    },
  }
}

function transportItems(telephony: boolean): readonly Item<ScaffoldTransport>[] {
  const web = WEB_TRANSPORTS.map((id) => ({ value: id, label: TRANSPORT_KINDS[id].label }))
  if (!telephony) return web
  return [
    ...TELEPHONY_TRANSPORTS.map((id) => ({ value: id, label: TRANSPORT_KINDS[id].label })),
    ...web.map((item) => ({ ...item, hint: 'beside the phone, to try the bot without one' })),
  ]
}

function phoneProblem(transports: readonly ScaffoldTransport[]): string | undefined {
  const flows = callFlows(transports)
  if (flows.length === 1) return undefined
  if (flows.length === 0) return 'A telephony bot needs a transport for phone calls.'
  const names = flows.map((id) => TRANSPORT_KINDS[id].label).join(', ')
  return `Phone calls come in different ways with these: ${names}. Take one of them; a project has one way.`
}

function featureQuestion(): Question {
  return {
    applies: ({ way }) => way === 'scaffold',
    async ask(prompts, answers, old) {
      const keys = FEATURES.filter((key) => isApplicable(key, answers))
      const avatar = isApplicable('video', answers)
      const items: readonly Item<ToggleKey | typeof AVATAR>[] = [
        ...keys.map((key) => ({ value: key, label: optionByKey(key).label })),
        ...(avatar ? [{ value: AVATAR, label: optionByKey('video').label } as const] : []),
      ]
      const initial = [
        ...keys.filter((key) => old.flags[key]),
        ...(old.wantsAvatar ? ([AVATAR] as const) : []),
      ]
      const chosen = await prompts.several('Which features?', items, { initial, required: false })
      if (chosen === BACK) return BACK
      const wantsAvatar = chosen.includes(AVATAR)
      // An avatar is video of the bot, so that "no" to that one would contradict it.
      const answered = keys.filter((key) => !(wantsAvatar && key === 'videoOutput'))
      return { wantsAvatar, flags: Object.fromEntries(answered.map((key) => [key, chosen.includes(key)])) }
    },
  }
}

/** Whether an option has an effect in the project as it is so far. */
function isApplicable(key: ScaffoldKey, { way, flags }: Answers): boolean {
  if (way !== 'scaffold') return false
  const { applies } = optionByKey(key)
  return applies === undefined || CONDITIONS[applies].holds(draftOf(flags)) === true
}

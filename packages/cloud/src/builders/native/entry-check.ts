import { writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import * as z from 'zod'
import { type FailedResult, failed } from '../failures/classify.ts'
import { requirementsFile } from '../failures/requirements-file.ts'
import { OWN_MODULE } from '../failures/rules.ts'
import type { Entry } from './entry.ts'
import { NODE_CHECK } from './node-check.ts'
import { PYTHON_CHECK } from './python-check.ts'
import { ENVIRONMENT } from './python-install.ts'
import type { Workshop } from './workshop.ts'

/** What the platform gives to a bot, so that no project has to install it. */
const GIVEN = { python: ['botcli'], node: ['botcli', '@botcli'] }

const report = z.object({
  checked: z.number(),
  how: z.string().optional(),
  bot: z.boolean(),
  problems: z.array(
    z.object({
      kind: z.enum(['syntax', 'import']),
      file: z.string(),
      line: z.number(),
      text: z.string(),
      module: z.string(),
    }),
  ),
})

/** Looks whether the bot can be loaded, without running it: its syntax, and whether what it imports was installed. */
export async function checkEntry(
  shop: Workshop,
  folder: string,
  entry: Entry,
  step: { readonly text: string; readonly line: number } | undefined,
  runsByUs: boolean,
): Promise<FailedResult | undefined> {
  const isPython = entry.language === 'python'
  const script = join(shop.input.scratch, isPython ? 'check.py' : 'check.mjs')
  await writeFile(script, isPython ? PYTHON_CHECK : NODE_CHECK)
  const interpreter = isPython
    ? [join(shop.bundle, ENVIRONMENT, 'bin/python'), '-I', '-B']
    : [process.execPath]
  let text = ''
  const root = join(shop.bundle, 'app', folder)
  const broken = await shop.run({
    argv: [...interpreter, script, root, entry.path, GIVEN[entry.language].join(',')],
    cwd: root,
    step: undefined,
    quiet: (part) => {
      text += part
    },
  })
  if (broken !== undefined)
    return broken.failure.code === 'command_failed' && broken.timedOut === undefined
      ? failed(
          'builder_failed',
          `the check of ${entry.path} failed: ${text.trim().split('\n').at(-1) ?? ''}`,
          undefined,
          'This is a fault of the builder.',
        )
      : broken
  const { checked, how, bot, problems } = report.parse(JSON.parse(text.trim().split('\n').at(-1) ?? ''))
  for (const problem of problems)
    shop.tail.say(`${posix.join(folder, problem.file)}:${problem.line}: ${problem.text}`)
  const first = problems.find(({ kind }) => kind === 'syntax') ?? problems[0]
  if (first !== undefined) {
    const message = `${posix.join(folder, first.file)}:${first.line}: ${first.text}`
    if (first.kind === 'syntax') return failed('command_failed', message, undefined, 'Correct the code.')
    return failed(
      'dependency_missing',
      message,
      step,
      await missingHint(shop, folder, first.module, isPython),
    )
  }
  if (!bot && runsByUs) shop.tail.say(warning(posix.join(folder, entry.path)))
  const files = `${checked} ${checked === 1 ? 'file' : 'files'} of the bot`
  const isTypescript = /\.[cm]?ts$/.test(entry.path)
  shop.tail.say(
    isTypescript && how === 'none'
      ? `${files}: imports are installed; the syntax of TypeScript was not checked, for nothing here can read it`
      : `${files}: syntax is right and imports are installed`,
  )
  return undefined
}

function warning(path: string): string {
  return `warning: ${path} has nothing named bot at its top, and that is what botcli run calls`
}

async function missingHint(
  shop: Workshop,
  folder: string,
  module: string,
  isPython: boolean,
): Promise<string> {
  if (module.startsWith('.'))
    return `The file of ${module} was not sent (see .dockerignore) or not copied (see COPY), or it has another name.`
  if (!isPython) return `Add the package that has ${module} to the dependencies of package.json.`
  const { context } = shop.input
  const file = await requirementsFile({ context, dockerfilePath: posix.join(folder, 'Dockerfile') })
  if (file === undefined) {
    return `Nothing that was sent names the packages of this project: name the one that has ${module} in requirements.txt, let .dockerignore send that file, and COPY and install it in the container build file. ${OWN_MODULE}`
  }
  return `Add the package that has ${module} to ${file}. ${OWN_MODULE}`
}

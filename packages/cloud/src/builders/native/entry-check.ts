import { writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import * as z from 'zod'
import { type FailedResult, failed } from '../failures/classify.ts'
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
  const { checked, how, problems } = report.parse(JSON.parse(text.trim().split('\n').at(-1) ?? ''))
  for (const problem of problems)
    shop.tail.say(`${posix.join(folder, problem.file)}:${problem.line}: ${problem.text}`)
  const first = problems.find(({ kind }) => kind === 'syntax') ?? problems[0]
  if (first !== undefined) {
    const message = `${posix.join(folder, first.file)}:${first.line}: ${first.text}`
    if (first.kind === 'syntax') return failed('command_failed', message, undefined, 'Correct the code.')
    const where = isPython ? 'requirements.txt or pyproject.toml' : 'the dependencies of package.json'
    return failed(
      'dependency_missing',
      message,
      step,
      `Add the package that has ${first.module} to ${where}.`,
    )
  }
  const files = `${checked} ${checked === 1 ? 'file' : 'files'} of the bot`
  const isTypescript = /\.[cm]?ts$/.test(entry.path)
  shop.tail.say(
    isTypescript && how === 'none'
      ? `${files}: imports are installed; the syntax of TypeScript was not checked, for nothing here can read it`
      : `${files}: syntax is right and imports are installed`,
  )
  return undefined
}

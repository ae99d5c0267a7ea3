import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FailedResult, failed } from '../failures/classify.ts'
import { leaveOutOwnPackages } from './own-packages.ts'
import type { PlannedInstall } from './plan.ts'
import type { Workshop } from './workshop.ts'

/** Does one installation of npm. */
export async function installNode(
  shop: Workshop,
  install: PlannedInstall,
): Promise<FailedResult | undefined> {
  const { npm } = shop.tools
  if (npm === undefined)
    return failed(
      'builder_failed',
      'npm was not found',
      install.step,
      'Install it on the machine that builds.',
    )
  const cwd = join(shop.bundle, 'app', install.folder)
  const own = await leaveOutOwnPackages(cwd)
  if (own.length > 0) shop.tail.say(`not installed, for the runner brings it: ${own.join(', ')}`)
  shop.tail.say(`$ npm ${install.args.join(' ')}`)
  return await shop.run({
    argv: [process.execPath, npm.path, ...install.args],
    cwd,
    env: install.env,
    step: install.step,
  })
}

/** What is installed where the container build file names no installation. */
export function usualNodeInstall(context: string, folder: string): PlannedInstall | undefined {
  const has = (name: string): boolean => existsSync(join(context, folder, name))
  if (!has('package.json')) return undefined
  const locked = has('package-lock.json') || has('npm-shrinkwrap.json')
  return { tool: 'npm', args: [locked ? 'ci' : 'install', '--omit=dev'], folder, env: {}, step: undefined }
}

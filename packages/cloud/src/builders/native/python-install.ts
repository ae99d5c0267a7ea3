import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FailedResult } from '../failures/classify.ts'
import { failed } from '../failures/classify.ts'
import type { PlannedInstall } from './plan.ts'
import type { Workshop } from './workshop.ts'

/** The folder of the virtual environment in a bundle. */
export const ENVIRONMENT = 'venv'

/** Makes the virtual environment of a bundle. */
export async function makeEnvironment(
  shop: Workshop,
  installs: readonly PlannedInstall[],
): Promise<FailedResult | undefined> {
  const { python, uv } = shop.tools
  const step = installs[0]?.step
  if ('missing' in python)
    return failed('builder_failed', python.missing, step, 'Install it on the machine that builds.')
  const folder = join(shop.bundle, ENVIRONMENT)
  // That of uv is there at once, but has no pip.
  const byUv = uv !== undefined && installs.every(({ tool }) => tool !== 'pip')
  const argv = byUv
    ? [uv.path, 'venv', '--quiet', '--relocatable', '--python', python.path, folder]
    : [python.path, '-m', 'venv', folder]
  return await shop.run({ argv, cwd: shop.bundle, step })
}

/** Does one installation into it. */
export async function installPython(
  shop: Workshop,
  install: PlannedInstall,
): Promise<FailedResult | undefined> {
  const environment = join(shop.bundle, ENVIRONMENT)
  const python = join(environment, 'bin/python')
  const cwd = join(shop.bundle, 'app', install.folder)
  // A line before may have installed it.
  const own = join(environment, 'bin/uv')
  const uv = shop.tools.uv?.path ?? (existsSync(own) ? own : undefined)
  if (install.tool === 'uv-sync') {
    if (uv === undefined) return await installWithoutUv(shop, install)
    // uv keeps links to the project's place unless told otherwise, and that place changes.
    // What other lines installed stays.
    const argv = [uv, 'sync', '--inexact', '--no-editable', '--python', python, ...install.args]
    shop.tail.say(`$ uv sync ${install.args.join(' ')}`.trimEnd())
    return await shop.run({
      argv: ['env', `UV_PROJECT_ENVIRONMENT=${environment}`, ...argv],
      cwd,
      env: install.env,
      step: install.step,
    })
  }
  const byUv = install.tool === 'uv-pip' && uv !== undefined
  const args = byUv
    ? install.args
    : install.args.map((word) => (word === '--no-cache' ? '--no-cache-dir' : word))
  const argv = byUv
    ? [uv, 'pip', 'install', '--python', python, ...args]
    : [python, '-m', 'pip', 'install', ...args]
  shop.tail.say(`$ ${byUv ? 'uv pip' : 'pip'} install ${args.join(' ')}`)
  return await shop.run({ argv, cwd, env: install.env, step: install.step })
}

/** The versions of the lock are uv's own; pip takes what the project allows. */
async function installWithoutUv(shop: Workshop, install: PlannedInstall): Promise<FailedResult | undefined> {
  shop.tail.say('uv is not on this machine: pip installs what pyproject.toml allows, whatever uv.lock says')
  return await installPython(shop, { ...install, tool: 'pip', args: ['.'] })
}

/** What is installed where the container build file names no installation. */
export function usualPythonInstall(context: string, folder: string): PlannedInstall | undefined {
  const has = (name: string): boolean => existsSync(join(context, folder, name))
  const common = { folder, env: {}, step: undefined }
  if (has('uv.lock') && has('pyproject.toml'))
    return { ...common, tool: 'uv-sync', args: ['--frozen', '--no-dev'] }
  if (has('requirements.txt')) return { ...common, tool: 'uv-pip', args: ['-r', 'requirements.txt'] }
  if (has('pyproject.toml')) return { ...common, tool: 'uv-pip', args: ['.'] }
  return undefined
}

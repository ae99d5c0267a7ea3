import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { findPythonWheel } from '@botcli/runner'

/** The folder of our Python package. */
export const PACKAGE = resolve(import.meta.dirname, '../../python')

/** Makes a project as the package's own README says. */
export async function makeProject(folder: string): Promise<void> {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8')
  const [, recipe] = /```toml\n(.*?)```/s.exec(readme) ?? []
  if (recipe === undefined) throw new Error('the README has no pyproject.toml')
  const wheel = findPythonWheel()
  await mkdir(join(folder, 'wheels'), { recursive: true })
  await copyFile(wheel, join(folder, 'wheels', basename(wheel)))
  await writeFile(join(folder, 'pyproject.toml'), recipe)
  await writeFile(join(folder, 'bot.py'), 'from botcli import main\n\nasync def bot(args):\n    pass\n')
}

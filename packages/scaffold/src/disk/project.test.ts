import { execFileSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { planGuides } from '../scaffold.ts'
import { freshFolder } from '../testing/folders.ts'
import { openFolder, reviewGuides } from './project.ts'

it('looks at guides, and waits for none that is no file', async () => {
  const root = await freshFolder()
  await writeFile(join(root, 'AGENTS.md'), 'mine\n')
  execFileSync('mkfifo', [join(root, 'ASSISTANT.md')])
  await symlink('nowhere', join(root, 'GETTING_STARTED.md'))
  const facts = { version: '1.0.0', command: 'botcli init . --overwrite-guide' }
  const policy = { overwrite: false, interactive: false }
  const reviews = await reviewGuides(await openFolder(root), planGuides(), facts, policy)
  expect(reviews.map(({ state }) => state)).toEqual(['foreign', 'absent', 'foreign'])
})

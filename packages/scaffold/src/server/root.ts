import type { Configuration } from '../configuration.ts'
import type { PlannedFile } from '../plan.ts'
import { gitignore } from './gitignore.ts'
import { readme } from './readme.ts'

/** The files at the top that belong to no one part. */
export function rootFiles(configuration: Configuration): readonly PlannedFile[] {
  return [
    { path: 'README.md', content: readme(configuration) },
    { path: '.gitignore', content: gitignore(configuration) },
  ]
}

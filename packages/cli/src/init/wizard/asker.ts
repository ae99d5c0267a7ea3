import type { Asker } from '../manner.ts'
import { BACK, type Prompts } from './prompts.ts'

const SHOWN = 12

/** Asks about what is in the way. */
export function askerOn(prompts: Prompts): Asker {
  return {
    async refresh(reviews) {
      const agreed = new Set<string>()
      for (const { path, state, edited } of reviews) {
        const found = state === 'older' ? 'was written by an older botcli' : 'was written for another project'
        const loss = edited ? ', and has changes of yours that would be lost' : ''
        const answer = await prompts.confirm(`${path} ${found}${loss}. Refresh it?`, !edited)
        if (answer === true) agreed.add(path)
      }
      return agreed
    },
    async overwrite(conflicts) {
      const listed = conflicts.slice(0, SHOWN).map(({ path, reason }) => `${path}: ${reason}`)
      const more = conflicts.length > SHOWN ? [`and ${conflicts.length - SHOWN} more`] : []
      prompts.warn(['These are in the way:', ...listed, ...more].join('\n'))
      if (!conflicts.every(({ overwritable }) => overwritable)) return false
      const answer = await prompts.select(
        'What shall happen?',
        [
          { value: 'stop', label: 'Stop; nothing is written' },
          { value: 'overwrite', label: 'Overwrite these files' },
        ],
        'stop',
      )
      return answer !== BACK && answer === 'overwrite'
    },
  }
}

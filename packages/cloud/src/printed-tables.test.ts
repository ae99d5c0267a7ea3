import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { printedTables, withTables } from './testing/printed-tables.ts'

const PAGE = resolve(import.meta.dirname, '../../../docs/cloud.md')
const REWRITE = 'npx vitest run packages/cloud/src/printed-tables.test.ts -u'

it('the tables of docs/cloud.md are those of the code', async () => {
  const text = readFileSync(PAGE, 'utf8')
  const message = `docs/cloud.md differs from the code. To rewrite its tables, run: ${REWRITE}`
  await expect(withTables(text, printedTables()), message).toMatchFileSnapshot(PAGE)
})

it('a page without a place for a table is told', () => {
  const table = { errors: '| code |\n' }
  expect(() => withTables('# A page\n', table)).toThrow('no place for the table errors')
  const page = 'before\n<!-- printed: errors -->\nold\n<!-- end: errors -->\nafter\n'
  expect(withTables(page, table)).toBe(
    'before\n<!-- printed: errors -->\n\n| code |\n\n<!-- end: errors -->\nafter\n',
  )
})

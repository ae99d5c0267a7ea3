import { readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'

// Loaded into a cloud before anything else. It kills the process with SIGKILL right before or right after a statement whose text holds
// what the file `BOTCLI_KILL_FILE` says, as `{"when": "before" | "after", "sql": "…", "value": "…"}`; nothing is killed without the file.
const file = process.env.BOTCLI_KILL_FILE ?? ''
const requireFrom = createRequire(new URL('../../../cloud/package.json', import.meta.url))
const Libsql = requireFrom('libsql')

function point() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function killAt(when, sql, values) {
  const wanted = point()
  if (wanted?.when !== when || !sql.includes(wanted.sql)) return
  if (wanted.value !== undefined && !JSON.stringify(values).includes(wanted.value)) return
  rmSync(file)
  process.kill(process.pid, 'SIGKILL')
}

const prepare = Libsql.prototype.prepare
Libsql.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql)
  for (const name of ['run', 'all', 'get']) {
    const original = statement[name].bind(statement)
    statement[name] = (...values) => {
      killAt('before', sql, values)
      const result = original(...values)
      killAt('after', sql, values)
      return result
    }
  }
  return statement
}

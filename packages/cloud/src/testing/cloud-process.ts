import { startCloud } from '../cloud.ts'
import { SegmentLogWriter } from '../logs/segment-log-writer.ts'
import { SqliteDatabase } from '../store/sqlite/database.ts'
import { ScriptedBuilder, scripted } from './scripted-builder.ts'

// A cloud in a process of its own, so that it can be killed. Its first line says where it is. With a number, it kills itself
// at so many steps of what it writes from the first build on.
const [dataFolder = '', killAt = '0'] = process.argv.slice(2)
let steps = 0
let isCounting = false

/** Counts the calls of a method, before and after each. */
function watch<T extends object>(prototype: T, name: keyof T): void {
  const original = prototype[name] as (...all: unknown[]) => unknown
  const step = (): void => {
    if (!isCounting) return
    steps += 1
    if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
  }
  const watched = function (this: T, ...all: unknown[]): unknown {
    if (String(all[0]).includes('INSERT INTO builds')) isCounting = true
    step()
    const result = original.apply(this, all)
    if (result instanceof Promise) return result.finally(step)
    step()
    return result
  }
  Object.defineProperty(prototype, name, { value: watched })
}
watch(SqliteDatabase.prototype, 'run')
watch(SqliteDatabase.prototype, 'execute')
watch(SegmentLogWriter.prototype, 'append')
watch(SegmentLogWriter.prototype, 'flush')
watch(SegmentLogWriter.prototype, 'seal')

const quiet = {
  info: () => {},
  warn: () => {},
  error: (...all: unknown[]) => process.stderr.write(`${JSON.stringify(all)}\n`),
}
const cloud = await startCloud({
  ...{ dataFolder, host: '127.0.0.1', port: 0, log: quiet, version: '0' },
  builders: [scripted(new ScriptedBuilder())],
})
process.stdout.write(`${JSON.stringify({ url: cloud.url, keys: cloud.firstKeys })}\n`)

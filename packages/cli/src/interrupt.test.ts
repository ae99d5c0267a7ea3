import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { Interrupt } from './interrupt.ts'
import type { Io } from './io.ts'

class Desk extends EventEmitter implements Io {
  readonly stdout = { write: () => true, on: () => {} }
  readonly stderr = this.stdout
  readonly env = {}
  readonly exits: number[] = []
  cwd(): string {
    return '.'
  }
  exit(code: number): void {
    this.exits.push(code)
  }
}

it('ends the command at once on a second press, but not when one press came twice', () => {
  const desk = new Desk()
  let now = 0
  const interrupt = new Interrupt(desk, () => now)
  expect([interrupt.exitCode, interrupt.signal.aborted]).toEqual([undefined, false])
  desk.emit('SIGINT')
  expect([interrupt.exitCode, interrupt.signal.aborted]).toEqual([130, true])
  now = 50
  desk.emit('SIGINT')
  expect(desk.exits).toEqual([])
  now = 500
  desk.emit('SIGTERM')
  expect(desk.exits).toEqual([143])
  interrupt.close()
  expect(desk.eventNames()).toEqual([])
})

import { EventEmitter } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import type { Io } from '../io.ts'
import { Stop } from './stop.ts'

class FakeProcess extends EventEmitter implements Io {
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

let stop: Stop | undefined
afterEach(() => stop?.close())

function made() {
  const io = new FakeProcess()
  const said: string[] = []
  const clock = { now: 0 }
  stop = new Stop(io, (text) => said.push(text), { clock: () => clock.now })
  return { io, said, clock, stop }
}

function runner(sessions: number) {
  let finish = () => {}
  const closing = new Promise<void>((resolve) => {
    finish = resolve
  })
  const deadlines: number[] = []
  return {
    sessions,
    deadlines,
    finish: () => finish(),
    close: ({ deadlineMs }: { deadlineMs: number }) => {
      deadlines.push(deadlineMs)
      return closing
    },
  }
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('ends sessions on %s and exits with 0', async (signal) => {
  const { io, said, stop } = made()
  const running = runner(2)
  const over = stop.wait(running)
  io.emit(signal)
  running.finish()
  expect(await over).toBe(0)
  expect(running.deadlines).toEqual([3000])
  expect(said).toEqual(['Ending 2 sessions… press Ctrl-C again to stop at once'])
  expect(io.exits).toEqual([])
})

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('exits at once on a second %s', async (signal, code) => {
  const { io, clock, stop } = made()
  void stop.wait(runner(1))
  io.emit('SIGINT')
  clock.now = 50
  io.emit(signal)
  expect(io.exits).toEqual([])
  clock.now = 500
  io.emit(signal)
  expect(io.exits).toEqual([code])
})

it('remembers a signal that came before the runner was there', async () => {
  const { io, stop } = made()
  io.emit('SIGTERM')
  expect(stop.requested).toBe(true)
  const running = runner(0)
  running.finish()
  expect(await stop.wait(running)).toBe(0)
})

it('leaves nothing behind', () => {
  const { io, stop } = made()
  stop.close()
  expect(io.eventNames()).toEqual([])
})

import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RoomProviderDouble } from '../../../runner/src/testing/room-provider-double.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { botFolder, StartedRunner } from '../testing/started-runner.ts'

const KEY = 'room-key-1234567890'

let provider: RoomProviderDouble
let folder: string | undefined
beforeEach(async () => {
  provider = new RoomProviderDouble(KEY)
  await provider.listen()
})
afterEach(async () => {
  await provider.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

async function direct(source: string): Promise<StartedRunner> {
  folder = await botFolder(source)
  return new StartedRunner(folder, ['-d'], { ROOM_API_KEY: KEY, ROOM_API_URL: provider.apiUrl })
}

const output = (runner: StartedRunner) => runner.lines.join('\n') + runner.stderr

it('-d sends the bot to a room, says where to join, and ends with the bot', async () => {
  const runner = await direct(`export async function bot({ roomUrl, token }) {
    console.log('in ' + roomUrl + ' with ' + typeof token)
  }
  `)
  expect(await runner.exitCode()).toBe(0)
  const [name] = provider.rooms.keys()
  expect(output(runner)).toContain(`Join the room: https://rooms.example/${name}?t=token-`)
  expect(output(runner)).toContain(`in https://rooms.example/${name} with string`)
  expect(output(runner)).not.toContain(KEY)
  expect(runner.children()).toEqual([])
})

it('-d fails when the bot does', async () => {
  const runner = await direct(`export async function bot() {
    throw new Error('no idea')
  }
  `)
  expect(await runner.exitCode()).toBe(1)
  expect(output(runner)).toContain('no idea')
})

it('-d fails when the provider refuses', async () => {
  provider.mood = 'refusing'
  const runner = await direct('export async function bot() {}\n')
  expect(await runner.exitCode()).toBe(1)
  expect(runner.stderr).toMatch(/^botcli: The room provider refused to make a room/)
  expect(output(runner)).not.toContain(KEY)
})

it('-d ends at once with Ctrl-C, and takes the bot along', async () => {
  const runner = await direct(`export async function bot() {
    console.log('here')
    await new Promise((resolve) => setTimeout(resolve, 60_000))
  }
  `)
  await until(() => runner.lines.some((line) => line.includes('here')), 'the bot to start')
  runner.interrupt()
  expect(await runner.exitCode()).toBe(0)
  expect(runner.children()).toEqual([])
})

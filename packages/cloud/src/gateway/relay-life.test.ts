import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../testing/cloud-fixture.ts'
import { GatewayHouse } from '../testing/gateway-house.ts'
import { StandInInstance } from '../testing/stand-in-instance.ts'

// Below node_modules, so that what is not bundled is found from there.
const FOLDER = join(import.meta.dirname, '../../../../node_modules/.cache/botcli-cloud')
const PROGRAM = join(FOLDER, `gateway-${process.pid}.mjs`)

let instance: StandInInstance
/** What killed processes leave. */
let leftovers: string
const ended: (() => Promise<void> | void)[] = []
beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true })
  await build({
    entryPoints: [join(import.meta.dirname, '../testing/gateway-process.ts')],
    ...{
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      target: 'node20',
      outfile: PROGRAM,
    },
  })
  instance = await StandInInstance.start()
  leftovers = await mkdtemp(join(tmpdir(), 'botcli-gateways-'))
})
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})
afterAll(async () => {
  await instance.close()
  await rm(PROGRAM, { force: true })
  await rm(leftovers, { recursive: true })
})

async function startGateway(): Promise<{ process: ChildProcess; websocketUrl: string }> {
  const child = spawn(process.execPath, [PROGRAM, instance.socketPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: leftovers },
  })
  ended.push(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { websocketUrl } = JSON.parse(line) as { websocketUrl: string }
  return { process: child, websocketUrl }
}

async function dial(url: string): Promise<WebSocket> {
  const websocket = new WebSocket(url)
  ended.push(() => websocket.terminate())
  await once(websocket, 'open')
  return websocket
}

async function echo(websocket: WebSocket, text: string): Promise<void> {
  websocket.send(text)
  const [data] = await once(websocket, 'message')
  expect(String(data)).toBe(text)
}

/** Processes whose parent is or was this one. */
function childrenOf(pid: number | undefined): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => statOf(name)?.parent === pid)
    .map(Number)
}

function statOf(name: string | number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const [state = '', parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

/** One that has ended may wait for somebody to ask how. */
function isRunning(pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.state !== 'Z'
}

describe.runIf(process.platform === 'linux')('what is relayed goes on', () => {
  it.each(['SIGKILL', 'close'] as const)(
    'when the control plane ends by %s, and the relay ends after it',
    async (how) => {
      const gateway = await startGateway()
      const websocket = await dial(gateway.websocketUrl)
      await echo(websocket, 'before')
      const [relay = 0, ...others] = childrenOf(gateway.process.pid)
      expect(others).toEqual([])
      const gone = once(gateway.process, 'exit')
      // Frames are on their way in both directions at that moment.
      const back: string[] = []
      websocket.on('message', (data) => back.push(String(data)))
      for (let index = 0; index < 500; index += 1) websocket.send(`${index}`)
      if (how === 'close') gateway.process.stdin?.write('\n')
      else gateway.process.kill(how)
      for (let index = 500; index < 1000; index += 1) websocket.send(`${index}`)
      await gone
      await until(() => back.length === 1000, 'all frames')
      expect(back).toEqual(Array.from({ length: 1000 }, (_, index) => `${index}`))
      await echo(websocket, 'after')
      expect(isRunning(relay)).toBe(true)
      // Another one starts its own.
      const next = await startGateway()
      const other = await dial(next.websocketUrl)
      await echo(other, 'next')
      expect(childrenOf(next.process.pid)).not.toContain(relay)
      websocket.close(1000)
      await until(() => !isRunning(relay), 'the relay to end')
      await echo(other, 'still there')
      const [secondRelay = 0] = childrenOf(next.process.pid)
      next.process.kill('SIGKILL')
      await once(next.process, 'exit')
      other.terminate()
      await until(() => !isRunning(secondRelay), 'the second relay to end')
    },
  )

  it('or never begins: a control plane that is killed while a caller comes in leaves no half of a call', async () => {
    for (const delayMs of [0, 20, 40, 60, 80, 100, 120, 150]) {
      const gateway = await startGateway()
      const websocket = new WebSocket(gateway.websocketUrl)
      const settled = Promise.race([
        once(websocket, 'open').then(() => 'open'),
        new Promise<string>((resolve) => websocket.on('error', () => resolve('refused'))),
      ])
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      const relays = childrenOf(gateway.process.pid)
      gateway.process.kill('SIGKILL')
      if ((await settled) === 'open') await echo(websocket, 'whole')
      websocket.terminate()
      await until(() => instance.websockets.size === 0, 'the instance to be free')
      await until(() => !relays.some(isRunning), 'the relay to end')
    }
  })

  it('and a relay without a call ends with its control plane', async () => {
    const gateway = await startGateway()
    const websocket = await dial(gateway.websocketUrl)
    const [relay = 0] = childrenOf(gateway.process.pid)
    websocket.close(1000)
    await once(websocket, 'close')
    await until(() => instance.websockets.size === 0, 'the call to be over')
    expect(isRunning(relay)).toBe(true)
    gateway.process.kill('SIGKILL')
    await until(() => !isRunning(relay), 'the relay to end')
  })
})

it('a relay that dies takes its calls with it, and the next caller gets another one', async () => {
  const house = await GatewayHouse.start()
  ended.push(() => house.close())
  const id = house.session(instance.socketPath, ['a', 'b'])
  const first = await dial(house.websocketUrl(id, 'a'))
  const [relay = 0] = childrenOf(process.pid).filter((pid) => isRelay(pid))
  const closed = once(first, 'close')
  process.kill(relay, 'SIGKILL')
  expect(await closed).toMatchObject([1006, expect.anything()])
  await until(() => instance.websockets.size === 0, 'the instance to notice')
  await until(() => house.gateway.websockets === 0, 'the gateway to notice')
  const second = await dial(house.websocketUrl(id, 'b'))
  await echo(second, 'again')
  expect(house.told.join()).toContain('the relay process ended')
})

it('no more callers are taken than there is room for', async () => {
  const house = await GatewayHouse.start({ maxWebsockets: 2 })
  ended.push(() => house.close())
  const id = house.session(instance.socketPath, ['a', 'b', 'c'])
  const first = await dial(house.websocketUrl(id, 'a'))
  await dial(house.websocketUrl(id, 'b'))
  const third = new WebSocket(house.websocketUrl(id, 'c'))
  third.on('error', () => {})
  const [, response] = await once(third, 'unexpected-response')
  expect(response.statusCode).toBe(429)
  expect(response.headers['retry-after']).toBe('10')
  first.close()
  await until(() => house.gateway.websockets === 1, 'room')
  await echo(await dial(house.websocketUrl(id, 'c')), 'in')
})

function isRelay(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('relay')
}

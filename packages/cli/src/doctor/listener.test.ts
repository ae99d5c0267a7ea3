import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StartedRunner } from '../testing/started-runner.ts'
import { checkRunnerPort } from './checks/ports.ts'
import { whoListens } from './listener.ts'

const signal = new AbortController().signal

async function portOf(server: Server): Promise<number> {
  server.listen(0, 'localhost')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

const saying = (text: string) => createHttpServer((_, answer) => answer.end(text))

describe('who listens', () => {
  it('is nobody on a free port', async () => {
    expect(await whoListens(await freePort(), '/', signal)).toEqual({ taken: false })
  })

  it('is somebody, with the JSON that is said', async () => {
    expect(await whoListens(await portOf(saying('{"a":1}')), '/', signal)).toEqual({
      taken: true,
      said: { a: 1 },
    })
  })

  it.each([
    ['answers text', saying('hello')],
    ['answers no HTTP', createServer((socket) => socket.end('220 hello\r\n'))],
    ['hangs up', createServer((socket) => socket.destroy())],
    ['never answers', createServer((socket) => onTestFinished(() => void socket.destroy()))],
    [
      'never stops',
      createHttpServer((_, answer) => {
        const more = () => {
          while (!answer.destroyed && answer.write('x'.repeat(8192)));
        }
        answer.on('drain', more)
        more()
      }),
    ],
  ])('is somebody who %s', async (_, server) => {
    expect(await whoListens(await portOf(server), '/', signal)).toEqual({ taken: true })
  })
})

describe("the runner's port", () => {
  it('is well when it is free', async () => {
    const port = await freePort()
    expect(await checkRunnerPort({ port, signal })).toEqual({ status: 'ok', message: `${port} is free` })
  })

  it('is well when a runner has it', async () => {
    const runner = new StartedRunner('examples/echo')
    onTestFinished(() => void runner.child.kill('SIGKILL'))
    const port = Number(new URL(await runner.url()).port)
    expect(await checkRunnerPort({ port, signal })).toMatchObject({
      status: 'ok',
      message: `${port} has a runner, which answers`,
    })
  })

  it.each(['{"status":"ready"}', '{"status":"other","transports":[]}', '[]', 'null', ''])(
    'is at fault when somebody has it who says %j',
    async (text) => {
      const port = await portOf(saying(text))
      expect(await checkRunnerPort({ port, signal })).toEqual({
        status: 'fault',
        message: `${port} is taken by another program`,
        fix: `botcli run --port ${port + 1}`,
      })
    },
  )
})

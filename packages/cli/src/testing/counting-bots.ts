import type { Files } from '../../../cloud/src/testing/cloud-fixture.ts'

const TYPESCRIPT = `import { createTransport, serve, type RunnerArguments } from '@botcli/bot'

if (process.env.FAIL_AT_IMPORT) throw new Error('this bot fails at import')

export async function bot(args: RunnerArguments): Promise<void> {
  if (args.body.fail === 'start') throw new Error('this bot fails at the start of a session')
  const transport = await createTransport(args, { websocket: () => ({}), telephony_a: () => ({}), webrtc: () => ({}) })
  serve(args, async (request) => Response.json({ path: new URL(request.url).pathname, body: await request.text() }))
  let line = 0
  const timer = setInterval(() => {
    line += 1
    console.log('line ' + line + ' of ' + args.sessionId)
  }, 50)
  let crash: (error: Error) => void = () => {}
  const crashed = new Promise<never>((_, reject) => {
    crash = reject
  })
  transport.rtvi.onRequest((request) => {
    const all: Uint8Array[] = []
    if (request.type === 'fill') for (;;) all.push(new Uint8Array(8 * 1024 * 1024).fill(1))
    if (request.type === 'crash') crash(new Error('this bot fails in the middle'))
    else request.respond(request.data)
  })
  const hearing = (async () => {
    for await (const frame of transport.audio()) await transport.sendAudio(frame.samples)
  })()
  try {
    await Promise.race([hearing, crashed])
  } finally {
    clearInterval(timer)
    console.log('last of ' + args.sessionId)
  }
}
`

const PYTHON = `import asyncio
import os

from botcli import TRANSPORT_IDS, RunnerArguments, TransportParams, create_transport, serve

if os.environ.get("FAIL_AT_IMPORT"):
    raise RuntimeError("this bot fails at import")


async def count(session: str) -> None:
    line = 0
    while True:
        line += 1
        print(f"line {line} of {session}", flush=True)
        await asyncio.sleep(0.05)


async def bot(args: RunnerArguments) -> None:
    if args.body.get("fail") == "start":
        raise RuntimeError("this bot fails at the start of a session")
    transport = await create_transport(args, {transport: TransportParams for transport in TRANSPORT_IDS})
    serve(args, lambda request: {"path": request.path, "body": request.text()})
    crashed = asyncio.get_running_loop().create_future()

    @transport.rtvi.on_request
    def on_request(request) -> None:
        kept = []
        while request.type == "fill":
            kept.append(bytearray(b"x") * (8 * 1024 * 1024))
        if request.type == "crash":
            crashed.set_exception(RuntimeError("this bot fails in the middle"))
        else:
            request.respond(request.data)

    async def hear() -> None:
        async for frame in transport.audio():
            await transport.send_audio(frame.audio)

    counting = asyncio.create_task(count(args.session_id))
    hearing = asyncio.create_task(hear())
    try:
        done, _ = await asyncio.wait([hearing, crashed], return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        counting.cancel()
        hearing.cancel()
        print(f"last of {args.session_id}", flush=True)
`

/** Bots that answer requests of both kinds with what was asked, print a numbered line again and again, and fail where they are told to. */
export const COUNTING_BOTS: Readonly<Record<'typescript' | 'python', Files>> = {
  typescript: {
    'bot.ts': TYPESCRIPT,
    Dockerfile: 'FROM node:22\nWORKDIR /app\nCOPY . .\nCMD ["botcli", "run", "bot.ts"]\n',
  },
  python: {
    'bot.py': PYTHON,
    Dockerfile: 'FROM python:3.12\nWORKDIR /app\nCOPY . .\nCMD ["botcli", "run", "bot.py"]\n',
  },
}

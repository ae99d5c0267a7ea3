const TYPESCRIPT = `
import { createTransport, type RunnerArguments } from '@botcli/bot'

const params = () => ({ audioInSampleRate: 16_000, audioOutSampleRate: 16_000 })

export async function bot(args: RunnerArguments): Promise<void> {
  const facts = { ...args, env: process.env.ENV ?? null }
  console.log('called with ' + JSON.stringify(facts))
  console.log('the word is ' + process.env.WORD)
  if (args.variant === 'room') await new Promise((resolve) => setTimeout(resolve, 3_600_000))
  const transport = await createTransport(args, { webrtc: params, websocket: params, telephony_b: params })
  const over = new Promise<void>((resolve) => {
    transport.rtvi.onRequest((request) => {
      if (request.type === 'print') console.log(String(request.data))
      if (request.type === 'word') console.log('the word is still ' + process.env.WORD)
      request.respond({ ...facts, word: process.env.WORD ?? null })
      if (request.type === 'leave') resolve()
    })
  })
  const left = (async () => {
    for await (const _ of transport.audio()) {
      // Nobody listens.
    }
  })()
  await Promise.race([over, left])
  console.log('the last word')
}
`

const PYTHON = `
import asyncio, dataclasses, json, os
from botcli import RoomRunnerArguments, RunnerArguments, TransportParams, WebSocketRunnerArguments, create_transport


def params() -> TransportParams:
    return TransportParams(audio_in_sample_rate=16_000, audio_out_sample_rate=16_000)


async def bot(args: RunnerArguments) -> None:
    facts = {"sessionId": args.session_id, "body": args.body, "variant": args.variant, "env": os.environ.get("ENV")}
    if isinstance(args, WebSocketRunnerArguments):
        facts["transportType"] = args.transport_type
    if isinstance(args, RoomRunnerArguments):
        facts["roomUrl"] = args.room_url
    print("called with " + json.dumps(facts))
    print("the word is " + os.environ["WORD"])
    if isinstance(args, RoomRunnerArguments):
        await asyncio.sleep(3600)
    transport = await create_transport(args, {"webrtc": params, "websocket": params, "telephony_b": params})
    over = asyncio.Event()

    @transport.rtvi.on_request
    def on_request(request) -> None:
        if request.type == "print":
            print(request.data)
        if request.type == "word":
            print("the word is still " + os.environ["WORD"])
        request.respond({**facts, "word": os.environ["WORD"]})
        if request.type == "leave":
            over.set()

    async def listen() -> None:
        async for _ in transport.audio():
            pass

    tasks = [asyncio.create_task(over.wait()), asyncio.create_task(listen())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    print("the last word")
`

/** What the bots tell. */
export interface Told {
  readonly sessionId: string
  readonly variant: string
  readonly body: Readonly<Record<string, unknown>>
  readonly transportType?: string
  readonly roomUrl?: string
  /** The variable `ENV`. */
  readonly env: string | null
  /** The variable `WORD`, which is a secret; it is told to callers only. */
  readonly word?: string | null
}

/** A project whose bot tells what it was called with: to its log, and to a caller who asks. A caller can also let it print, and leave. */
export function tellingProject(
  language: 'typescript' | 'python',
  { agent, secretSet }: { readonly agent: string; readonly secretSet: string },
): Readonly<Record<string, string>> {
  const file = language === 'python' ? 'bot.py' : 'bot.ts'
  return {
    [file]: language === 'python' ? PYTHON : TYPESCRIPT,
    Dockerfile: `FROM scratch\nWORKDIR /app\nCOPY ${file} ./\nCMD ["botcli", "run", "${file}"]\n`,
    'deploy.toml': `agent_name = "${agent}"\nsecret_set = "${secretSet}"\nsessions_per_instance = 10\n[scaling]\nmin_agents = 1\nmax_agents = 2\n`,
  }
}

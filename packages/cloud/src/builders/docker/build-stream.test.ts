import { describe, expect, it } from 'vitest'
import { type BuildEvent, BuildStream } from './build-stream.ts'

/** Recorded from dockerd 20.10 and from podman 4.3. */
const DOCKER = [
  '{"stream":"Step 1/2 : FROM localhost/b:1"}\r\n{"stream":"\\n"}\r\n{"stream":" ---\\u003e 037b9994d417\\n"}\r\n',
  '{"status":"Pulling from library/x","id":"latest"}\r\n{"status":"Downloading","progressDetail":{"current":1,"total":9},"progress":"[=\\u003e  ]","id":"abc"}\r\n',
  '{"stream":"Step 2/2 : RUN exit 3"}\r\n{"stream":"\\n"}\r\n',
  '{"errorDetail":{"code":3,"message":"The command \'/bin/sh -c exit 3\' returned a non-zero code: 3"},"error":"The command \'/bin/sh -c exit 3\' returned a non-zero code: 3"}\r\n',
].join('')
const PODMAN =
  '{"stream":"STEP 1/1: FROM scratch\\n"}\n{"aux":{"ID":"sha256:ef32"}}\n{"errorDetail":{"message":"building at STEP \\"RUN x\\": while running runtime: exit status 137\\n"},"error":"x"}\n'
const BUILDKIT = [
  'CmsKR3NoYTI1NjpiOWExNDM0ODQ3OGIzNTBlNmI4Y2MzNjJkOTlhMDk1YTM1ZDJiOTQzZmFmOTYwMDdkMGIyYTMzMjc0YjgyZTU3GiBbc3RhZ2UtMCAxLzNdIEZST00gbG9jYWxob3N0L2I6MQ==',
  'CnkKR3NoYTI1NjpiOWExNDM0ODQ3OGIzNTBlNmI4Y2MzNjJkOTlhMDk1YTM1ZDJiOTQzZmFmOTYwMDdkMGIyYTMzMjc0YjgyZTU3GiBbc3RhZ2UtMCAxLzNdIEZST00gbG9jYWxob3N0L2I6MSoMCOmp69cGEKbGtfkB',
  'Gl4KR3NoYTI1NjoxMDdkYzkxZGI4NzE3ZTY3MzE1MGRiN2EwOGZjODg1YzUxN2IzYTZjN2E4MGQxYThjNzUxZjcwOTI4ZDY1NzMxEgwI6anr1wYQmNzsmwIYASIDaGkK',
  'GmEKR3NoYTI1NjoxMDdkYzkxZGI4NzE3ZTY3MzE1MGRiN2EwOGZjODg1YzUxN2IzYTZjN2E4MGQxYThjNzUxZjcwOTI4ZDY1NzMxEgwI6qnr1wYQxJLLnAIYAiIGdGhlcmUK',
]
  .map((aux) => `${JSON.stringify({ id: 'moby.buildkit.trace', aux })}\n`)
  .join('')

function read(text: string, size: number): readonly BuildEvent[] {
  const stream = new BuildStream()
  const bytes = Buffer.from(text)
  const events: BuildEvent[] = []
  for (let at = 0; at < bytes.length; at += size) events.push(...stream.write(bytes.subarray(at, at + size)))
  return [...events, ...stream.end()]
}

const outputOf = (events: readonly BuildEvent[]): string =>
  events.flatMap((event) => (event.kind === 'output' ? [event.text] : [])).join('')

describe.each([1, 7, 100_000])('in pieces of %i bytes', (size) => {
  it('reads the stream of Docker, without bars of progress', () => {
    const events = read(DOCKER, size)
    expect(outputOf(events)).toBe(
      'Step 1/2 : FROM localhost/b:1\n ---> 037b9994d417\nlatest: Pulling from library/x\nStep 2/2 : RUN exit 3\n',
    )
    expect(events.at(-1)).toMatchObject({ kind: 'error', status: 3 })
  })

  it('reads the stream of podman', () => {
    const events = read(PODMAN, size)
    expect(events).toContainEqual({ kind: 'image', id: 'sha256:ef32' })
    expect(events.at(-1)).toMatchObject({ kind: 'error', status: 137 })
  })

  it('reads the trace of BuildKit', () => {
    expect(outputOf(read(BUILDKIT, size))).toBe('#1 [stage-0 1/3] FROM localhost/b:1\nhi\nthere\n')
  })
})

it('shows what it does not know, and survives a torn end', () => {
  expect(outputOf(read('oops\n[1]\n{"stream":"ok\\n"}\n{"stream":"to', 3))).toBe(
    'oops\n[1]\nok\n{"stream":"to\n',
  )
  expect(outputOf(read('{"aux":"Gl4KR3No"}\n', 100))).toBe('')
})

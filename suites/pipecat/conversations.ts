import { decodeClientFrame, encodeClientFrame, rtviMessage } from '@botcli/protocol'
import { WebSocket } from 'ws'
import { WebrtcTestClient } from '../../packages/media/src/testing/webrtc-client.ts'
import { type RunnerFixture, until } from '../../packages/runner/src/testing/runner-fixture.ts'
import { melody } from './melody.ts'
import { MICROPHONE_RATE, Microphone } from './microphone.ts'

/** A caller in a conversation, whatever the wire. */
export interface Conversation {
  /** Every message of the bot, as text, and how much had been heard of it by then. */
  readonly messages: readonly { readonly text: string; readonly heard: ReturnType<typeof melody> }[]
  /** What was heard so far. */
  readonly heard: ReturnType<typeof melody>
  say(samples: Int16Array): void
  close(): void
}

/** Waits until a sentence of the bot is heard. */
export async function hears(conversation: Conversation, sentence: string): Promise<void> {
  await until(
    () => conversation.heard.some(({ said }) => said === sentence),
    `"${sentence}", while this was heard: ${JSON.stringify(conversation.heard)}`,
  )
}

/** Talks over the plain WebSocket, in the protobuf framing of the published client. */
export async function overWebsocket(runner: RunnerFixture): Promise<Conversation> {
  const websocket = new WebSocket(`${runner.url.replace('http', 'ws')}/ws-client`)
  const ear = new Ear()
  websocket.on('message', (data: Buffer) => {
    const frame = decodeClientFrame(data)
    if (frame?.kind === 'audio') ear.hear(new Int16Array(frame.audio.slice().buffer), frame.sampleRate)
    if (frame?.kind === 'message') ear.read(frame.data)
  })
  await until(() => websocket.readyState === WebSocket.OPEN, 'the connection')
  websocket.send(encodeClientFrame({ kind: 'message', data: JSON.stringify(CLIENT_READY) }))
  const microphone = new Microphone((samples) => {
    const audio = new Uint8Array(samples.buffer)
    websocket.send(encodeClientFrame({ kind: 'audio', audio, sampleRate: MICROPHONE_RATE, channels: 1 }))
  })
  return ear.conversation(microphone, () => websocket.close())
}

/** Talks over a peer connection. */
export async function overWebrtc(runner: RunnerFixture): Promise<Conversation> {
  const ear = new Ear()
  const client = new WebrtcTestClient({
    rate: MICROPHONE_RATE,
    signal: async (sdp) => {
      const response = await runner.post('/api/offer', { sdp, type: 'offer' })
      const answer = (await response.json()) as { readonly sdp?: string; readonly error?: string }
      if (answer.sdp === undefined) throw new Error(`the offer was refused: ${answer.error}`)
      return answer.sdp
    },
    onAudio: (samples) => ear.hear(samples, MICROPHONE_RATE),
    onMessage: (text) => ear.read(text),
  })
  await client.connect()
  client.send(CLIENT_READY)
  return ear.conversation(new Microphone((samples) => client.sendAudio(samples)), () => client.close())
}

const CLIENT_READY = rtviMessage('client-ready', {
  version: '2.0.0',
  about: { library: 'suite', library_version: '1' },
})

/** Keeps what a caller gets. */
class Ear {
  readonly #messages: Conversation['messages'][number][] = []
  readonly #sound: Int16Array[] = []
  #rate = MICROPHONE_RATE

  hear(samples: Int16Array, rate: number): void {
    this.#rate = rate
    this.#sound.push(samples)
  }

  read(text: string): void {
    this.#messages.push({ text, heard: this.#melody() })
  }

  conversation(microphone: Microphone, hangUp: () => void): Conversation {
    const heard = () => this.#melody()
    return {
      messages: this.#messages,
      get heard() {
        return heard()
      },
      say: (samples) => microphone.say(samples),
      close: () => {
        microphone.close()
        hangUp()
      },
    }
  }

  #melody(): ReturnType<typeof melody> {
    return melody(Int16Array.from(this.#sound.flatMap((part) => [...part])), this.#rate)
  }
}

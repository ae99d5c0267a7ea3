import { RTVIEvent } from '@pipecat-ai/client-js'
import { BotClient } from './talk/bot-client'
import { type Line, type Said, withSaid } from './talk/conversation'
import { connectProblem, deviceProblem, ENDED, reportedProblem } from './talk/problem'
import { TRANSPORTS } from './talk/transports'
import { View } from './view'

const view = new View({ connect, disconnect, mute, type })

let bot: BotClient | undefined
let lines: readonly Line[] = []

async function connect(): Promise<void> {
  const transport = TRANSPORTS.find(({ id }) => id === view.transport) ?? TRANSPORTS[0]
  const current = new BotClient(transport)
  bot = current
  listen(current)
  say({ kind: 'began' })
  view.showProblem(undefined)
  view.showPhase('connecting')
  try {
    await current.connect()
    if (current.closed) return
    view.showPhase('ready')
    view.showMicrophone(current.client.isMicEnabled)
  } catch (error) {
    if (current.closed) return
    view.showProblem(await connectProblem(error))
    view.showPhase('idle')
  }
}

function disconnect(): void {
  view.showPhase('idle')
  void bot?.close()
}

function mute(): void {
  if (bot === undefined) return
  bot.client.enableMic(!bot.client.isMicEnabled)
  view.showMicrophone(bot.client.isMicEnabled)
}

function type(text: string): void {
  say({ kind: 'typed', text })
  void bot?.client.sendText(text)
}

function listen(current: BotClient): void {
  const { client } = current
  client.on(RTVIEvent.UserTranscript, (transcript) => say({ kind: 'heard', transcript }))
  client.on(RTVIEvent.BotOutput, (output) => say({ kind: 'output', output }))
  client.on(RTVIEvent.UserStartedSpeaking, () => say({ kind: 'turn' }))
  client.on(RTVIEvent.BotLlmStarted, () => say({ kind: 'turn' }))
  client.on(RTVIEvent.LocalAudioLevel, (level) => view.showLevel(client.isMicEnabled ? level : 0))
  client.on(RTVIEvent.TrackStarted, (track, participant) => {
    if (!current.closed) view.play(track, participant?.local === true)
  })
  client.on(RTVIEvent.DeviceError, (error) => view.showProblem(deviceProblem(error)))
  // What goes wrong while connecting is told by the attempt itself.
  const ready = () => view.phase === 'ready' && !current.closed
  client.on(RTVIEvent.Error, (message) => {
    if (ready()) view.showProblem(reportedProblem(message))
  })
  client.on(RTVIEvent.Disconnected, () => {
    if (!ready()) return
    view.showPhase('idle')
    if (!view.hasProblem) view.showProblem(ENDED)
    void current.close()
  })
}

function say(said: Said): void {
  lines = withSaid(lines, said)
  view.showLines(lines)
}

import { RTVIEvent } from '@pipecat-ai/client-js'
import { BotClient } from './talk/bot-client'
import { type Line, type Said, withSaid } from './talk/conversation'
import {
  connectProblem,
  deviceProblem,
  ENDED,
  LOST,
  type Problem,
  reportedProblem,
  serverAnswers,
} from './talk/problem'
import { TRANSPORTS } from './talk/transports'
import { View } from './view'

const view = new View({
  connect,
  disconnect,
  mute,
  type,
  // #if camera
  turnCamera,
  // #end
})

let bot: BotClient | undefined
let lines: readonly Line[] = []
let problem: Problem | undefined

async function connect(): Promise<void> {
  const transport = TRANSPORTS.find(({ id }) => id === view.transport) ?? TRANSPORTS[0]
  const current = new BotClient(transport)
  bot = current
  listen(current)
  say({ kind: 'began' })
  showProblem(undefined)
  view.showPhase('connecting')
  try {
    await current.connect()
    if (current.closed) return
    view.showPhase('ready')
  } catch (error) {
    const failure = await connectProblem(error)
    if (current.closed) return
    showProblem(failure)
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

// #if camera
function turnCamera(): void {
  if (bot === undefined) return
  bot.client.enableCam(!bot.client.isCamEnabled)
  view.showCamera(bot.client.isCamEnabled)
}

// #end
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
  client.on(RTVIEvent.DeviceError, (error) => {
    showProblem(deviceProblem(error))
    view.showMissing(error.devices)
  })
  // What goes wrong while connecting is told by the attempt itself.
  const ready = () => view.phase === 'ready' && bot === current
  client.on(RTVIEvent.Error, (message) => {
    if (ready()) showProblem(reportedProblem(message) ?? problem)
  })
  client.on(RTVIEvent.Disconnected, () => {
    if (!ready()) return
    disconnect()
    if (!problem?.final) showProblem(ENDED)
    void serverAnswers().then((found) => {
      if (!found && problem === ENDED) showProblem(LOST)
    })
  })
}

function showProblem(shown: Problem | undefined): void {
  problem = shown
  view.showProblem(shown)
}

function say(said: Said): void {
  lines = withSaid(lines, said)
  view.showLines(lines)
}

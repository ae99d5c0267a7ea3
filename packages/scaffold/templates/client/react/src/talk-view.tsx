import { PipecatClientAudio } from '@pipecat-ai/client-react'
import { Microphone } from './microphone'
import type { BotClient } from './talk/bot-client'
import type { BotTransport } from './talk/bot-transport'
import { TRANSPORTS } from './talk/transports'
import { TextForm } from './text-form'
import { Transcript } from './transcript'
import { TransportChoice } from './transport-choice'
import { useTalk } from './use-talk'
// #if video
import { Videos } from './videos'

// #end

interface Props {
  readonly bot: BotClient
  readonly transport: BotTransport
  readonly onTransport: (transport: BotTransport) => void
  readonly onOver: () => void
}

const PHASES = { idle: 'Not connected', connecting: 'Connecting …', ready: 'Connected' } as const

/** The conversation, and the controls for it. */
export function TalkView({ bot, transport, onTransport, onOver }: Props) {
  const talk = useTalk(bot, onOver)
  const idle = talk.phase === 'idle'
  return (
    <main className="talk">
      <div className="bar">
        <p className="status" data-phase={talk.phase} role="status">
          {PHASES[talk.phase]}
        </p>
        {TRANSPORTS.length > 1 && (
          <TransportChoice transport={transport} disabled={!idle} onTransport={onTransport} />
        )}
        <button
          type="button"
          className={idle ? 'primary' : 'danger'}
          onClick={idle ? talk.connect : talk.disconnect}
        >
          {idle ? 'Connect' : 'Disconnect'}
        </button>
      </div>
      {talk.problem !== undefined && (
        <div className="problem" role="alert">
          <strong>{talk.problem.title}</strong> {talk.problem.detail}
        </div>
      )}
      {/* #if video */}
      <Videos active={!idle && transport.video} />
      {/* #end */}
      <Transcript lines={talk.lines} />
      <div className="dock">
        <Microphone active={talk.phase === 'ready'} />
        <TextForm active={talk.phase === 'ready'} onText={talk.type} />
      </div>
      <PipecatClientAudio />
    </main>
  )
}

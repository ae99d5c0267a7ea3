import { PipecatClientAudio } from '@pipecat-ai/client-react'
// #if camera
import { Camera } from './camera'
// #end
import { Microphone } from './microphone'
import { TITLE } from './settings'
import type { BotClient } from './talk/bot-client'
import type { BotTransport } from './talk/bot-transport'
import { PHASES } from './talk/phase'
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

/** The whole page: the conversation, and the controls for it. */
export function TalkView({ bot, transport, onTransport, onOver }: Props) {
  const talk = useTalk(bot, onOver)
  const words = PHASES[talk.phase]
  const idle = talk.phase === 'idle'
  const ready = talk.phase === 'ready'
  return (
    <div className="page">
      <header className="header">
        <img src="/icon.svg" alt="" width="36" height="36" />
        <h1>{TITLE}</h1>
        <p className="status" data-phase={talk.phase} role="status">
          {words.status}
        </p>
      </header>
      <main className="talk">
        <div className="bar">
          {TRANSPORTS.length > 1 && (
            <TransportChoice transport={transport} disabled={!idle} onTransport={onTransport} />
          )}
          <button
            type="button"
            className={idle ? 'primary' : 'danger'}
            onClick={idle ? talk.connect : talk.disconnect}
          >
            {words.button}
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
        <Transcript lines={talk.lines} hint={words.hint} />
        <div className="dock">
          <div className="devices">
            <Microphone active={ready} missing={talk.missing.includes('mic')} />
            {/* #if camera */}
            {transport.video && <Camera active={ready} missing={talk.missing.includes('cam')} />}
            {/* #end */}
          </div>
          <TextForm active={ready} onText={talk.type} />
        </div>
        <PipecatClientAudio />
      </main>
    </div>
  )
}

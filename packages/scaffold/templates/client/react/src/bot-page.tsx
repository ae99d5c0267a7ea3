import { PipecatClientProvider } from '@pipecat-ai/client-react'
import { useCallback, useState } from 'react'
import { BotClient } from './talk/bot-client'
import type { BotTransport } from './talk/bot-transport'
import { TRANSPORTS } from './talk/transports'
import { TalkView } from './talk-view'

/** The whole page. */
export function BotPage() {
  const [transport, setTransport] = useState(TRANSPORTS[0])
  // A client is for one conversation; the next one is there before it is needed.
  const [bot, setBot] = useState(() => new BotClient(transport))

  const onTransport = useCallback((chosen: BotTransport) => {
    setTransport(chosen)
    setBot(new BotClient(chosen))
  }, [])
  const onOver = useCallback(() => setBot(new BotClient(transport)), [transport])

  return (
    <PipecatClientProvider client={bot.client}>
      <TalkView bot={bot} transport={transport} onTransport={onTransport} onOver={onOver} />
    </PipecatClientProvider>
  )
}

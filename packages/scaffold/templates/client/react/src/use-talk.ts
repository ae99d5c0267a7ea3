import { RTVIEvent } from '@pipecat-ai/client-js'
import { useRTVIClientEvent } from '@pipecat-ai/client-react'
import { useCallback, useEffect, useReducer, useState } from 'react'
import type { BotClient } from './talk/bot-client'
import { type Line, withSaid } from './talk/conversation'
import { connectProblem, deviceProblem, ENDED, type Problem, reportedProblem } from './talk/problem'

/** A conversation as a component sees it. */
export interface Talk {
  readonly phase: 'idle' | 'connecting' | 'ready'
  readonly problem: Problem | undefined
  readonly lines: readonly Line[]
  readonly connect: () => void
  readonly disconnect: () => void
  readonly type: (text: string) => void
}

/** Connects, and collects what is said. It asks for another client when it is done with this one. */
export function useTalk(bot: BotClient, onOver: () => void): Talk {
  const [phase, setPhase] = useState<Talk['phase']>('idle')
  const [problem, setProblem] = useState<Problem>()
  const [lines, say] = useReducer(withSaid, [])

  useRTVIClientEvent(
    RTVIEvent.UserTranscript,
    useCallback((transcript) => say({ kind: 'heard', transcript }), []),
  )
  useRTVIClientEvent(
    RTVIEvent.BotOutput,
    useCallback((output) => say({ kind: 'output', output }), []),
  )
  const onTurn = useCallback(() => say({ kind: 'turn' }), [])
  useRTVIClientEvent(RTVIEvent.UserStartedSpeaking, onTurn)
  useRTVIClientEvent(RTVIEvent.BotLlmStarted, onTurn)
  useRTVIClientEvent(
    RTVIEvent.DeviceError,
    useCallback((error) => setProblem(deviceProblem(error)), []),
  )

  const over = useCallback(() => {
    setPhase('idle')
    onOver()
  }, [onOver])

  // What goes wrong while connecting is told by the attempt itself.
  const ready = phase === 'ready'
  useRTVIClientEvent(
    RTVIEvent.Error,
    useCallback((message) => ready && setProblem(reportedProblem(message)), [ready]),
  )
  useRTVIClientEvent(
    RTVIEvent.Disconnected,
    useCallback(() => {
      if (!ready) return
      setProblem((shown) => shown ?? ENDED)
      over()
    }, [ready, over]),
  )

  const connect = useCallback(() => {
    setProblem(undefined)
    setPhase('connecting')
    say({ kind: 'began' })
    bot.connect().then(
      () => {
        if (!bot.closed) setPhase('ready')
      },
      async (error: unknown) => {
        if (bot.closed) return
        setProblem(await connectProblem(error))
        over()
      },
    )
  }, [bot, over])

  const type = useCallback(
    (text: string) => {
      say({ kind: 'typed', text })
      void bot.client.sendText(text)
    },
    [bot],
  )

  // Hangs up when there is another client, and when the page goes.
  useEffect(() => () => void bot.close(), [bot])

  return { phase, problem, lines, connect, disconnect: over, type }
}

import { RTVIEvent } from '@pipecat-ai/client-js'
import { useRTVIClientEvent } from '@pipecat-ai/client-react'
import { useCallback, useEffect, useReducer, useState } from 'react'
import type { BotClient } from './talk/bot-client'
import { type Line, withSaid } from './talk/conversation'
import type { Phase } from './talk/phase'
import {
  connectProblem,
  deviceProblem,
  ENDED,
  LOST,
  type Problem,
  reportedProblem,
  serverAnswers,
} from './talk/problem'

/** A conversation as a component sees it. */
export interface Talk {
  readonly phase: Phase
  readonly problem: Problem | undefined
  /** Devices that cannot be used: `mic`, `cam`. */
  readonly missing: readonly string[]
  readonly lines: readonly Line[]
  readonly connect: () => void
  readonly disconnect: () => void
  readonly type: (text: string) => void
}

/** Connects, and collects what is said. It asks for another client when it is done with this one. */
export function useTalk(bot: BotClient, onOver: () => void): Talk {
  const [phase, setPhase] = useState<Phase>('idle')
  const [problem, setProblem] = useState<Problem>()
  const [missing, setMissing] = useState<readonly string[]>([])
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
    useCallback((error) => {
      setProblem(deviceProblem(error))
      setMissing((names) => [...names, ...error.devices])
    }, []),
  )

  const over = useCallback(() => {
    setPhase('idle')
    onOver()
  }, [onOver])

  // What goes wrong while connecting is told by the attempt itself.
  const ready = phase === 'ready'
  useRTVIClientEvent(
    RTVIEvent.Error,
    useCallback((message) => ready && setProblem((shown) => reportedProblem(message) ?? shown), [ready]),
  )
  useRTVIClientEvent(
    RTVIEvent.Disconnected,
    useCallback(() => {
      if (!ready) return
      setProblem((shown) => (shown?.final ? shown : ENDED))
      over()
      void serverAnswers().then((found) => {
        if (!found) setProblem((shown) => (shown === ENDED ? LOST : shown))
      })
    }, [ready, over]),
  )

  const connect = useCallback(() => {
    setProblem(undefined)
    setMissing([])
    setPhase('connecting')
    say({ kind: 'began' })
    bot.connect().then(
      () => {
        if (!bot.closed) setPhase('ready')
      },
      async (error: unknown) => {
        const failure = await connectProblem(error)
        if (bot.closed) return
        setProblem(failure)
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

  return { phase, problem, missing, lines, connect, disconnect: over, type }
}

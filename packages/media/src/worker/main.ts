import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { MediaError } from '../errors.ts'
import { LocalMediaHost } from '../host/local-media-host.ts'
import type { HostedSessionEvents } from '../host/media-host.ts'
import type { UpgradeRequest } from '../websocket/upgrade.ts'
import type { FromWorker, PackedUpgrade, ToWorker, WorkerCall, WorkerEvent, WorkerFault } from './messages.ts'

// The code of a call runs fifty times a second, which by default is too seldom to be compiled well within minutes. An engine
// that does not know this goes on as it is.
setFlagsFromString('--interrupt-budget=8000')

/** The process of one media worker: a host of wires that is told what to do by its parent. */
let host: LocalMediaHost | undefined

// The parent decides when it is over; a Ctrl-C of the terminal reaches this process too.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))

/**
 * Calls whose socket has arrived. Until the parent has closed its own copy both processes read from the same connection, and
 * what the parent reads is lost; so nothing may be sent that the other end would answer.
 */
const held = new Map<number, (wanted: boolean) => void>()

process.on('message', (message: ToWorker, handle: unknown) => {
  const socket = handle instanceof Socket ? handle : undefined
  // It is read from now on, and a caller that breaks off is no news; without a listener it would end all calls.
  socket?.on('error', () => {})
  if (message.type === 'go') {
    held.get(message.id)?.(message.wanted)
    held.delete(message.id)
    return
  }
  if (message.type === 'options') {
    host = new LocalMediaHost(message.options, (text, detail) => {
      tell({ type: 'log', message: text, ...(detail === undefined ? {} : { detail }) })
    })
    tell({ type: 'ready' })
    return
  }
  const { id, call } = message
  const act = () => {
    perform(call, socket).then(
      (result) => tell({ type: 'done', id, ...(result === undefined ? {} : { result }) }),
      (error: unknown) => tell({ type: 'failed', id, fault: faultOf(error) }),
    )
  }
  if (socket === undefined) {
    act()
    return
  }
  held.set(id, (wanted) => {
    if (wanted) act()
    else socket.destroy()
  })
  tell({ type: 'held', id })
})

async function perform(call: WorkerCall, socket: Socket | undefined) {
  if (host === undefined) throw new MediaError('media_unavailable', 'The media worker is not set up yet.')
  const { sessionId } = call
  switch (call.type) {
    case 'open-webrtc':
      return host.openWebrtc(sessionId, call.offer, eventsOf(sessionId))
    case 'open-peer-relay':
      return host.openPeerRelay(sessionId, call.offer, eventsOf(sessionId))
    case 'open-websocket':
      return host.openWebsocket(
        sessionId,
        unpacked(call.request),
        given(socket),
        call.passThrough,
        eventsOf(sessionId),
      )
    case 'open-carrier':
      return host.openCarrier(
        sessionId,
        unpacked(call.request),
        given(socket),
        call.door,
        eventsOf(sessionId),
      )
    case 'open-room':
      return host.openRoom(sessionId, eventsOf(sessionId))
    case 'join':
      return host.join(sessionId, given(socket), call.start)
    case 'negotiate':
      return host.negotiate(sessionId, call.offer, call.restart)
    case 'candidates':
      return host.addCandidates(sessionId, call.candidates)
    case 'request':
      return host.request(sessionId, call.request)
    case 'close':
      return host.close(sessionId, call.outcome, call.deadlineMs)
  }
}

function unpacked(request: PackedUpgrade): UpgradeRequest {
  return { ...request, head: Buffer.from(request.head, 'base64') }
}

/** A socket whose other end closed while it was on its way arrives as nothing. */
function given(socket: Socket | undefined): Socket {
  if (socket !== undefined && !socket.destroyed) return socket
  throw new MediaError('media_unavailable', 'The other side closed its socket.')
}

function eventsOf(sessionId: string): HostedSessionEvents {
  const emit = (event: WorkerEvent) => tell({ type: 'event', sessionId, event })
  return {
    connected: () => emit({ type: 'connected' }),
    disconnected: () => emit({ type: 'disconnected' }),
    over: (reason) => emit({ type: 'over', reason }),
    report: (report) => emit({ type: 'report', report }),
  }
}

function tell(message: FromWorker): void {
  // A parent that goes away while it is told something is no fault of ours.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}

function faultOf(error: unknown): WorkerFault {
  if (error instanceof MediaError) return { code: error.code, message: error.message }
  return { code: 'media_unavailable', message: error instanceof Error ? error.message : String(error) }
}

/** What a page has seen of one call. */
export interface SeenCall {
  readonly closed: boolean
  readonly messages: readonly { readonly type: string; readonly data?: { readonly error?: string } }[]
}

/** Several calls of one page, with nothing between them and the browser's own WebRTC. */
export interface BrowserPeers {
  dial(sessionId: string): Promise<void>
  look(sessionId: string): SeenCall
  press(sessionId: string, key: string): void
  leave(sessionId: string): void
}

/** What {@link installPeers} adds to a page. */
export interface BrowserGlobals {
  readonly peers: BrowserPeers
}

/** Runs inside the page, which has to be one of the runner's. */
export function installPeers(): void {
  interface Call {
    readonly peer: RTCPeerConnection
    readonly channel: RTCDataChannel
    readonly messages: SeenCall['messages'][number][]
  }
  const calls = new Map<string, Call>()
  const MOST_MESSAGES = 100

  const find = (sessionId: string): Call => {
    const call = calls.get(sessionId)
    if (call === undefined) throw new Error(`nobody has called ${sessionId}`)
    return call
  }

  const when = (target: EventTarget, event: string, holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (holds()) resolve()
      }
      target.addEventListener(event, look)
      look()
    })

  const peers: BrowserPeers = {
    async dial(sessionId) {
      const microphone = await navigator.mediaDevices.getUserMedia({ audio: true })
      const peer = new RTCPeerConnection()
      for (const track of microphone.getTracks()) peer.addTrack(track, microphone)
      const channel = peer.createDataChannel('chat')
      const call: Call = { peer, channel, messages: [] }
      calls.set(sessionId, call)
      channel.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data))
        if (message.type === 'error' || call.messages.length < MOST_MESSAGES) call.messages.push(message)
      })
      await peer.setLocalDescription()
      await when(peer, 'icegatheringstatechange', () => peer.iceGatheringState === 'complete')
      const response = await fetch(`/sessions/${sessionId}/api/offer`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(peer.localDescription),
      })
      if (!response.ok) throw new Error(await response.text())
      await peer.setRemoteDescription(await response.json())
      await when(channel, 'open', () => channel.readyState !== 'connecting')
    },
    look(sessionId) {
      const { channel, messages } = find(sessionId)
      return { closed: channel.readyState === 'closed', messages }
    },
    press(sessionId, key) {
      const message = { label: 'rtvi-ai', type: 'dtmf', id: '1', data: { buttons: [key] } }
      find(sessionId).channel.send(JSON.stringify(message))
    },
    leave(sessionId) {
      find(sessionId).peer.close()
    },
  }
  Object.assign(globalThis, { peers })
}

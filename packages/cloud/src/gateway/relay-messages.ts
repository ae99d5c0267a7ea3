/** What the control plane tells the relay process. */
export type ToRelay =
  /** A caller, whose socket comes with it. */
  | { readonly type: 'open'; readonly id: number; readonly call: RelayedCall }
  /** The control plane has let go of the socket, so the instance may be asked: nobody else reads what the caller sends now. */
  | { readonly type: 'go'; readonly id: number }
  /** The instance could not be reached, and the caller is to be told. */
  | { readonly type: 'refuse'; readonly id: number }
  /** Nobody waits for this any more. */
  | { readonly type: 'drop'; readonly id: number }

/** What the relay process tells the control plane. */
export type FromRelay =
  | { readonly type: 'ready' }
  /** It holds the caller and the instance, and waits for `go`. */
  | { readonly type: 'reached'; readonly id: number }
  /** Nothing of the caller has reached the instance. It waits for `refuse`. */
  | { readonly type: 'unreached'; readonly id: number; readonly why: string }
  | { readonly type: 'over'; readonly id: number }

/** What a relay process has to know of a caller. Bytes are in base64. */
export interface RelayedCall {
  /** The Unix socket of the instance. */
  readonly socketPath: string
  /** The request for the upgrade, as the instance gets it. */
  readonly request: string
  /** What the caller has sent behind its request already. */
  readonly early: string
  /** What the caller is answered if the instance says nothing. */
  readonly failure: string
}

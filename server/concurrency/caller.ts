/** The caller of a request for limited work. */
export interface Caller {
  /** Identifies the token, or the person who is signed in. */
  readonly id: string
  /** Aborted when the client of the request disconnects. */
  readonly signal: AbortSignal
}

/** A caller without an id, which does not disconnect. */
export const NO_CALLER: Caller = { id: '', signal: new AbortController().signal }

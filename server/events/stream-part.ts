import type { Principal } from '../contract/access/principal.ts'
import type { FollowedEvent } from '../contract/event.ts'

/** What a stream follows besides the events of the hub. */
export interface StreamPart {
  /** Calls `listener` when there may be something to send; returns the unsubscribe. */
  subscribe(listener: () => void): () => void
  /** Returns what to send next to a reader, who was just authenticated; undefined: nothing. */
  take(reader: Principal): FollowedEvent | undefined | Promise<FollowedEvent | undefined>
}

import { randomUUID } from 'node:crypto'
import type { LiveEvent } from '../contract/event.ts'

/** Number of events that are kept for readers that reconnect. */
const MAX_STORED_EVENTS = 1000

/** An event, and the id from which a reader can resume. */
export interface NumberedEvent {
  readonly id: string
  readonly event: LiveEvent
  /** See {@link EventHub.publish}. */
  readonly databases: readonly string[] | undefined
}

/** Distributes live changes to event streams. */
export interface EventHub {
  /**
   * @param databases for an event about an endpoint: the databases that it serves and has served
   * until now, empty for all. Without them, only readers who may see all endpoints get the event.
   */
  publish(event: LiveEvent, databases?: readonly string[]): void
  /** The id of the last event, for a reader that starts now. */
  readonly lastId: string
  /**
   * Returns all events after `id`. If `id` is unknown, because it is too old or from an earlier
   * process, returns one `reset`.
   */
  after(id: string): readonly NumberedEvent[]
  /** Wakes all readers without an event, after a change that may affect their permissions. */
  wakeReaders(): void
  /** How often readers were woken. */
  readonly wakes: number
  /** Calls `listener` for each event of a type; returns the unsubscribe. */
  on(type: LiveEvent['type'], listener: () => void): () => void
  /** Calls `listener` after each event or wake; returns the unsubscribe. */
  subscribe(listener: () => void): () => void
}

/** Returns an event hub. Readers pull events, so a slow reader uses no memory. */
export function createEventHub(kept: number = MAX_STORED_EVENTS): EventHub {
  // Numbers restart with each process, so ids carry a random prefix.
  const run = randomUUID().slice(0, 8)
  // Up to twice as many as are kept, so that old ones are removed many at a time.
  let recent: NumberedEvent[] = []
  const listeners = new Set<() => void>()
  const ofType = new Map<LiveEvent['type'], Set<() => void>>()
  let last = 0
  let wakes = 0
  const wake = () => {
    wakes++
    for (const listener of listeners) listener()
  }

  const id = (n: number) => `${run}-${n}`
  return {
    publish(event, databases) {
      recent.push({ id: id(++last), event, databases })
      if (recent.length >= 2 * kept) recent = recent.slice(-kept)
      wake()
      for (const listener of ofType.get(event.type) ?? []) listener()
    },
    wakeReaders: wake,
    get wakes() {
      return wakes
    },
    get lastId() {
      return id(last)
    },
    after(seen) {
      const match = /^([0-9a-f]+)-([0-9]{1,15})$/.exec(seen)
      const number = Number(match?.[2])
      const isRecent =
        match?.[1] === run && number <= last && number >= last - Math.min(recent.length, kept)
      if (!isRecent) return [{ id: id(last), event: { type: 'reset' }, databases: undefined }]
      return number === last ? [] : recent.slice(number - last)
    },
    on(type, listener) {
      const some = ofType.get(type) ?? new Set()
      ofType.set(type, some.add(listener))
      return () => some.delete(listener)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

import { randomUUID } from 'node:crypto'
import type { LiveEvent } from '../contract/event.ts'

/** How many events are kept for those who come back. */
export const KEPT_EVENTS = 1000

/** An event with the id by which a reader says how far it has read. */
export interface NumberedEvent {
  readonly id: string
  readonly event: LiveEvent
}

/** Carries live changes from where they happen to those who watch. */
export interface EventHub {
  publish(event: LiveEvent): void
  /** The id of the last event, for a reader that begins now. */
  readonly lastId: string
  /**
   * Everything after `id`; where that is not known any more (too long ago, or of a process that has
   * ended), one `reset`.
   */
  after(id: string): readonly NumberedEvent[]
  /** Calls readers back without an event: what they may read could have changed. */
  nudge(): void
  /** How often readers were called back. */
  readonly wakes: number
  /** Calls back after each event or nudge; returns the unsubscribe. */
  subscribe(listener: () => void): () => void
}

/** Makes an {@link EventHub}. Readers pull, so a slow one costs no memory. */
export function createEventHub(kept: number = KEPT_EVENTS): EventHub {
  // Ids of another process must not look like ours: after a restart the numbers begin again.
  const run = randomUUID().slice(0, 8)
  const recent: NumberedEvent[] = []
  const listeners = new Set<() => void>()
  let last = 0
  let wakes = 0
  const wake = () => {
    wakes++
    for (const listener of listeners) listener()
  }

  const id = (n: number) => `${run}-${n}`
  return {
    publish(event) {
      recent.push({ id: id(++last), event })
      if (recent.length > kept) recent.shift()
      wake()
    },
    nudge: wake,
    get wakes() {
      return wakes
    },
    get lastId() {
      return id(last)
    },
    after(seen) {
      const match = /^([0-9a-f]+)-([0-9]{1,15})$/.exec(seen)
      const number = Number(match?.[2])
      const known = match?.[1] === run && number <= last && number >= last - recent.length
      if (!known) return [{ id: id(last), event: { type: 'reset' } }]
      return number === last ? [] : recent.slice(number - last)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

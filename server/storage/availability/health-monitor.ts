import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Failure } from '../failure.ts'
import { StoreUnavailable } from './unavailable.ts'

/** Since when the store cannot be reached, ms since 1970, and why, for people. */
export interface Away {
  readonly since: number
  /** For the log: it may hold addresses and paths. */
  readonly reason: string
  /** What an operator has to do, a sentence for anybody; missing: the node recovers by itself. */
  readonly advice?: string
}

/** Something that waits for the store: a query, or a connection that is asked for. */
export interface Waiting {
  /** The process of the server that works on it, where that is known. */
  readonly worker?: number | undefined
  /** Ends it: the store is away, or has lost it. */
  readonly abandon: (failure: Failure) => void
}

/** What a look at the store finds. */
export type Look =
  /**
   * It answers; `idle`: those of the processes asked for that do not work on anything; `roundTrip`: how
   * long one question took, ms.
   */
  | { readonly answers: true; readonly idle: ReadonlySet<number>; readonly roundTrip?: number }
  | { readonly answers: false; readonly reason: string }

/** What a {@link Reach} is made of. */
export interface ReachDeps {
  /** Looks at the store by a way of its own, and what becomes of these processes; never throws. */
  readonly look: (processes: readonly number[]) => Promise<Look>
  /** Told when the store goes away, and with undefined when it is back. */
  readonly changed: (away: Away | undefined) => void
}

/** How much longer than a round trip something may wait before the store is looked at, ms. */
const PATIENCE = 300

/** How often it is looked whether something has waited so long, ms. */
const TICK = 50

/** The pause between two looks at a store that is away, ms. */
const AGAIN = 250

/**
 * Knows whether the store can be reached, and ends what waits for it when it cannot: nobody waits
 * for a server that is gone, and while it is known to be away, {@link require} refuses at once. From
 * then on it is looked for until it is back.
 *
 * A server that answers to others may still have lost one connection (a firewall that forgot it):
 * what waits there is ended, too, once two looks found that the server does not work on it.
 */
export class Reach {
  readonly #deps: ReachDeps
  readonly #waiting = new Set<Waiting & { readonly since: number }>()
  readonly #queued = new Set<Waiting['abandon']>()
  readonly #timer: NodeJS.Timeout
  #idle: ReadonlySet<Waiting> = new Set()
  #away: Away | undefined
  #looking: Promise<void> | undefined
  #answered = 0
  #roundTrip = 0
  #returns = 0
  #stopped = false

  constructor(deps: ReachDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#tick(), TICK)
    this.#timer.unref()
  }

  /** Since when the store is away; undefined: as far as is known it is there. */
  get away(): Away | undefined {
    return this.#away
  }

  /** @throws Failure `unavailable` while the store is known to be away. */
  require(): void {
    if (this.#away !== undefined) throw cannotBeReached()
  }

  /** Somebody begins to wait; ends with the function that is returned. */
  wait(waiting: Waiting): () => void {
    const entry = { ...waiting, since: performance.now() }
    this.#waiting.add(entry)
    return () => {
      this.#waiting.delete(entry)
    }
  }

  /**
   * Begins to wait for others of this node, which tells nothing of the store: it is not looked at, but
   * the wait ends when the store goes away. Ends with the function that is returned.
   */
  queue(abandon: Waiting['abandon']): () => void {
    const entry = (failure: Failure) => abandon(failure)
    this.#queued.add(entry)
    return () => {
      this.#queued.delete(entry)
    }
  }

  /** A connection broke, or could not be made: looks at once whether the store is there. */
  suspect(): void {
    if (this.#stopped) return
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  /** Looks, and waits for it where it is away; false where it was not. */
  async returned(): Promise<boolean> {
    this.suspect()
    const wasAway = this.#away !== undefined
    const before = this.#returns
    await this.#looking
    return wasAway || this.#returns !== before
  }

  /** Looks no more; nothing is ended from now on. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#looking
  }

  #tick(): void {
    // In the order in which they came: the first has waited longest.
    const [first] = this.#waiting
    if (first === undefined) return
    const waited = performance.now() - Math.max(first.since, this.#answered)
    if (waited >= PATIENCE + this.#roundTrip) this.suspect()
  }

  async #look(): Promise<void> {
    do {
      const now = performance.now()
      const late = [...this.#waiting].filter(({ since }) => now - since >= PATIENCE)
      const processes = late.flatMap((each) => each.worker ?? [])
      const found = await this.#deps.look(processes)
      if (this.#stopped) return
      if (found.answers) {
        this.#answered = performance.now()
        this.#roundTrip = found.roundTrip ?? this.#roundTrip
        this.#isBack()
        this.#endLost(late, found.idle)
      } else {
        this.#isAway(found.reason)
        await pause(AGAIN)
      }
    } while (this.#away !== undefined && !this.#stopped)
  }

  #isAway(reason: string): void {
    const before = this.#away
    this.#away = { since: before?.since ?? Date.now(), reason }
    this.#idle = new Set()
    for (const { abandon } of [...this.#waiting]) abandon(cannotBeReached())
    for (const abandon of [...this.#queued]) abandon(cannotBeReached())
    if (before?.reason !== reason) this.#deps.changed(this.#away)
  }

  #isBack(): void {
    if (this.#away === undefined) return
    this.#away = undefined
    this.#returns++
    this.#deps.changed(undefined)
  }

  #endLost(late: readonly Waiting[], idle: ReadonlySet<number>): void {
    const lost = late.filter(({ worker }) => worker !== undefined && idle.has(worker))
    const before = this.#idle
    this.#idle = new Set(lost)
    for (const each of lost) if (before.has(each)) each.abandon(cannotBeReached())
  }
}

/** What is told while the store is away. */
export const cannotBeReached = (cause?: unknown): Failure =>
  new StoreUnavailable(undefined, { cause })

/**
 * Resolves with what the work does, or with `late` after so many ms. A process that was held up
 * itself hears what has come meanwhile before it decides that nothing came.
 */
export async function within<T, L>(limit: number, work: Promise<T>, late: L): Promise<T | L> {
  const given = new AbortController()
  const over = (async () => {
    await pause(limit, undefined, { signal: given.signal })
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    return late
  })()
  over.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    given.abort()
  }
}

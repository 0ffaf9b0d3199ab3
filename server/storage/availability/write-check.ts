import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { refusesWrites } from './unavailable.ts'

/** Since when the store accepts no changes, ms since 1970, and why, for people. */
export interface ReadOnly {
  readonly since: number
  readonly reason: string
}

/** Pause between two attempts to write to a store that accepts no changes, ms. */
const AGAIN = 1_000

/** Pause between two looks for signs that the next change will fail, ms. */
const LOOK = 5_000

/** Knows whether the store accepts changes. */
export interface WriteCheck {
  /** Undefined: as far as is known it accepts them. */
  readonly readOnly: ReadOnly | undefined
  /** Called after a change failed; tries one of its own where the store may be to blame. Never throws. */
  suspect(error: unknown): void
  stop(): Promise<void>
}

/** What {@link createWriteCheck} needs. */
export interface WriteCheckDeps {
  /** Makes the smallest possible change. */
  readonly write: () => Promise<unknown>
  /** Looks, without writing, for signs that changes will fail; missing: there are none. */
  readonly looksFull?: (() => Promise<boolean>) | undefined
  /** Called when the store accepts no changes, and with undefined when it does again. */
  readonly changed: (readOnly: ReadOnly | undefined) => void
  /** Replaces the pauses, for tests. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/**
 * Creates a {@link WriteCheck}. The store counts as read-only once a change of the check's own fails
 * for a reason of the disk or the server: a change of somebody else may only have been too large. From
 * then on the check tries every second until one succeeds.
 */
export function createWriteCheck(deps: WriteCheckDeps): WriteCheck {
  const { wait = (ms, signal) => pause(ms, undefined, { signal, ref: false }) } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  // A change that failed may be inside a transaction, where the check must not write.
  const outside = AsyncLocalStorage.snapshot()
  let readOnly: ReadOnly | undefined
  let checking: Promise<void> | undefined
  let suspected = false

  function set(now: ReadOnly | undefined): void {
    const before = readOnly
    readOnly = now
    if (before?.reason !== now?.reason) deps.changed(now)
  }

  async function tryOnce(): Promise<void> {
    try {
      await deps.write()
      set(undefined)
    } catch (error) {
      // Anything else, such as a lock or a lost connection, says nothing about later changes.
      const reason = refusesWrites(error)
      if (reason !== undefined) set({ since: readOnly?.since ?? Date.now(), reason })
    }
  }

  /** Tries until a change succeeds, at most once in {@link AGAIN}. */
  async function check(): Promise<void> {
    try {
      while (!signal.aborted && (suspected || readOnly !== undefined)) {
        suspected = false
        await tryOnce()
        await wait(AGAIN, signal)
      }
    } catch {
      // Stopped during the pause.
    }
  }

  function begin(): void {
    suspected = true
    if (signal.aborted) return
    checking ??= check().finally(() => {
      checking = undefined
    })
  }

  async function look(looksFull: () => Promise<boolean>): Promise<void> {
    try {
      for (;;) {
        await wait(LOOK, signal)
        if (await looksFull()) begin()
      }
    } catch {
      // Stopped.
    }
  }
  const looking = deps.looksFull && look(deps.looksFull)

  return {
    get readOnly() {
      return readOnly
    },
    suspect(error) {
      if (refusesWrites(error) !== undefined) outside(begin)
    },
    async stop() {
      stopping.abort()
      await Promise.all([checking, looking])
    },
  }
}

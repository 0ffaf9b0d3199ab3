import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { DISK_FULL, writeFailureReason } from './unavailable.ts'

/** Since when the store has been read-only, ms since 1970, and a human-readable reason. */
export interface ReadOnly {
  readonly since: number
  readonly reason: string
}

/** Pause between two write attempts while the store is read-only, ms. */
const RETRY_DELAY = 1_000

/** Interval between checks for a full disk, ms. */
const DISK_CHECK_INTERVAL = 5_000

/** Tracks whether the store accepts writes. */
export interface WriteCheck {
  /** Undefined if the store accepts writes as far as is known. */
  readonly readOnly: ReadOnly | undefined
  /** Reports a failed change. Tests a write if the store may be the cause. Never throws. */
  reportFailure(error: unknown): void
  stop(): Promise<void>
}

export interface WriteCheckDeps {
  /** Makes the smallest possible change. */
  readonly write: () => Promise<unknown>
  /**
   * Checks, without writing, whether the next write is likely to fail. Missing if there is no such
   * check.
   */
  readonly isDiskFull?: (() => Promise<boolean>) | undefined
  /** Called when the store becomes read-only, and with undefined when it accepts writes again. */
  readonly changed: (readOnly: ReadOnly | undefined) => void
  /** Replaces the timer in tests. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/**
 * Creates a {@link WriteCheck}. The store counts as read-only once a write of the check itself
 * fails because of the disk or the server, and from a change that fails because the disk is full
 * for as long as `isDiskFull`. Otherwise a failed change may just have been too large. The check
 * tries every second until the store accepts writes.
 */
export function createWriteCheck(deps: WriteCheckDeps): WriteCheck {
  const { wait = (ms, signal) => pause(ms, undefined, { signal, ref: false }) } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  // A failed change may be reported inside a transaction, where the check must not write.
  const outside = AsyncLocalStorage.snapshot()
  let readOnly: ReadOnly | undefined
  let checking: Promise<void> | undefined
  let suspected = false
  /** Whether the disk had no space for a change. Smaller ones may still fit. */
  let lacksSpace = false

  function setReason(reason: string | undefined): void {
    const before = readOnly
    readOnly = reason === undefined ? undefined : { since: before?.since ?? Date.now(), reason }
    if (before?.reason !== reason) deps.changed(readOnly)
  }

  async function tryOnce(): Promise<void> {
    try {
      await deps.write()
      lacksSpace &&= (await deps.isDiskFull?.()) ?? false
      setReason(lacksSpace ? DISK_FULL : undefined)
    } catch (error) {
      // Other errors, such as a lock or a lost connection, do not predict later writes.
      const reason = writeFailureReason(error)
      if (reason !== undefined) setReason(reason)
    }
  }

  /** Tries a write until one succeeds, at most once per {@link RETRY_DELAY}. */
  async function check(): Promise<void> {
    try {
      while (!signal.aborted && (suspected || readOnly !== undefined)) {
        suspected = false
        await tryOnce()
        await wait(RETRY_DELAY, signal)
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

  async function watchDisk(isDiskFull: () => Promise<boolean>): Promise<void> {
    try {
      for (;;) {
        await wait(DISK_CHECK_INTERVAL, signal)
        if (await isDiskFull()) begin()
      }
    } catch {
      // Stopped.
    }
  }
  const watching = deps.isDiskFull && watchDisk(deps.isDiskFull)

  return {
    get readOnly() {
      return readOnly
    },
    reportFailure(error) {
      const reason = writeFailureReason(error)
      if (reason === undefined) return
      lacksSpace ||= reason === DISK_FULL
      outside(begin)
    },
    async stop() {
      stopping.abort()
      await Promise.all([checking, watching])
    },
  }
}

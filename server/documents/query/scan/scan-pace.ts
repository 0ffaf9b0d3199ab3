import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/**
 * How the scans of a node leave time to its other requests, ms. Once they have worked for `work`,
 * they pause together for `probe`. If the event loop is idle for less than half of it, the node is
 * busy with other requests. The scans then pause for `factor` times their work, at most `pause`.
 */
export const PACE = { work: 20, probe: 1, factor: 4, pause: 200 } as const

export interface ScanPaceDeps {
  /** Returns the time of a monotonic clock, ms. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<unknown>
  /** Returns for how long the event loop has been idle so far, ms. */
  readonly idle: () => number
}

const SYSTEM: ScanPaceDeps = {
  now: () => performance.now(),
  sleep,
  idle: () => performance.eventLoopUtilization().idle,
}

/** Paces the scans of a node ({@link PACE}): queries, counts and jobs. */
export class ScanPace {
  readonly #deps: ScanPaceDeps
  /** Number of steps in progress. */
  #running = 0
  /** When the first step in progress began. */
  #begun = 0
  /** Work since the last pause, ms. Concurrent steps count once. */
  #worked = 0
  #pausing: Promise<void> | undefined
  #ended = Promise.withResolvers<void>()

  constructor(deps: ScanPaceDeps = SYSTEM) {
    this.#deps = deps
  }

  /**
   * Runs a step of a scan, a few milliseconds of work, after the pause that may be due. A step must
   * not wait for another step or for a client, because the pause begins when no step runs.
   */
  async run<T>(step: () => T | Promise<T>): Promise<T> {
    while (this.#isDue()) {
      this.#pausing ??= this.#pause()
      await this.#pausing
    }
    if (this.#running++ === 0) this.#begun = this.#deps.now()
    try {
      return await step()
    } finally {
      if (--this.#running === 0) {
        this.#worked += this.#deps.now() - this.#begun
        this.#ended.resolve()
      }
    }
  }

  #isDue(): boolean {
    const current = this.#running === 0 ? 0 : this.#deps.now() - this.#begun
    return this.#worked + current >= PACE.work
  }

  async #pause(): Promise<void> {
    const { sleep, idle } = this.#deps
    if (this.#running > 0) {
      this.#ended = Promise.withResolvers()
      await this.#ended.promise
    }
    // A timer counts from the beginning of the turn, and a step may have taken the whole turn.
    await nextTurn()
    const before = idle()
    await sleep(PACE.probe)
    if (idle() - before < PACE.probe / 2) {
      await sleep(Math.min(PACE.factor * this.#worked, PACE.pause) - PACE.probe)
    }
    this.#worked = 0
    this.#pausing = undefined
  }
}

/** How long an undo is offered, ms. Hovering or focusing the bar pauses the countdown. */
export const UNDO_MS = 10_000

/** Minimum time that remains after a pause, ms. */
export const MIN_AFTER_PAUSE_MS = 3_000

/** Limits the time in which an undo is offered. */
export interface UndoCountdown {
  /** Begins again with the whole time, or with another. */
  start(time?: number): void
  /** Stops the countdown while the bar is hovered or focused. */
  pause(): void
  /** Continues a countdown that does not run. */
  resume(): void
  stop(): void
}

/** Returns a countdown that calls `onEnd`. */
export function createUndoCountdown(onEnd: () => void): UndoCountdown {
  let timer: ReturnType<typeof setTimeout> | undefined
  let left = 0
  let startedAt = 0
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const start = (time = UNDO_MS) => {
    stop()
    left = time
    startedAt = Date.now()
    timer = setTimeout(onEnd, time)
  }
  return {
    start,
    stop,
    pause: () => {
      if (timer === undefined) return
      stop()
      left -= Date.now() - startedAt
    },
    resume: () => {
      if (timer === undefined) start(Math.max(left, MIN_AFTER_PAUSE_MS))
    },
  }
}

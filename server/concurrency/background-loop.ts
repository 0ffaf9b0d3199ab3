/** Background work. At most one run is in progress. */
export interface BackgroundLoop {
  /**
   * Starts a run. During a run, schedules another one, because the first may miss the latest
   * change.
   */
  wake(): void
  /** Prevents further runs, and waits for the run in progress. */
  stop(): Promise<void>
}

/**
 * Creates a {@link BackgroundLoop}.
 *
 * @param run returns once `isStopped` returns true.
 */
export function createBackgroundLoop(
  run: (isStopped: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
): BackgroundLoop {
  let stopped = false
  let wanted = false
  let running: Promise<void> | undefined
  const isStopped = () => stopped

  async function runAll(): Promise<void> {
    while (wanted && !stopped) {
      wanted = false
      await run(isStopped).catch(onError)
    }
    running = undefined
  }

  return {
    wake() {
      wanted = true
      if (!stopped) running ??= runAll()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}

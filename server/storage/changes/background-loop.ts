/** Work that is done in the background, once at a time. */
export interface BackgroundLoop {
  /** Runs the work; again if a run is in progress, since it may have missed the latest. */
  wake(): void
  /** Lets no further run begin, and waits for the one in progress. */
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

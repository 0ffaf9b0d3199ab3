/**
 * The flags of Node.js with which the server runs
 * (docs/decisions/0029-flags-of-the-garbage-collector.md). Without `--disable-sigusr1`, the signal
 * SIGUSR1 opens the debugger.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=8',
  '--disable-warning=ExperimentalWarning',
  '--disable-sigusr1',
]

// Loaded into a node whose memory is measured (`node --expose-gc --import`): asked over its channel,
// it collects garbage or not, and says how much memory the process has. A node that serves people
// runs without it.

/** What a measured node answers, bytes. */
export interface MemoryUse {
  /** All that the process holds of the machine's memory (resident set). */
  readonly rss: number
  /** What of it is in use by objects of JavaScript. */
  readonly heap: number
}

process.on('message', (question) => {
  if (question === 'collected') {
    // Once marks, the second time frees what finalizers of the first let go.
    globalThis.gc?.()
    globalThis.gc?.()
  }
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heap: heapUsed } satisfies MemoryUse)
})
// Waiting for questions is no reason to stay.
process.channel?.unref()

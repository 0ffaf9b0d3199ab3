// Loaded into a node whose memory is measured (`node --expose-gc --import`). On a message over its
// channel, it optionally collects garbage and reports the memory use of the process. Production
// nodes run without it.

/** The memory use of a node, bytes. */
export interface MemoryUse {
  /** Resident set size of the process. */
  readonly rss: number
  /** The used part of the JavaScript heap. */
  readonly heap: number
}

process.on('message', (question) => {
  if (question === 'collected') {
    // The second collection frees what finalizers of the first released.
    globalThis.gc?.()
    globalThis.gc?.()
  }
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heap: heapUsed } satisfies MemoryUse)
})
// The open channel must not keep the process alive.
process.channel?.unref()

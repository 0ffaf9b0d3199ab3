import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 allocate all objects in the young generation
 * (docs/decisions/0029-flags-of-the-garbage-collector.md). Set when the node is ready: V8 rejects the
 * compiled code of Node.js's own modules under other flags, which makes a start 20 ms longer.
 */
export const allocateInYoungGeneration = (): void =>
  setFlagsFromString('--no-allocation-site-pretenuring')

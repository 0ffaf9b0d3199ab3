import { getHeapSpaceStatistics } from 'node:v8'
import { allocateInYoungGeneration } from '../cli/commands/start.ts'

// As in the server.
allocateInYoungGeneration()

/** Returns the used size of the old generation of the heap, bytes. */
export const oldGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ??
  Number.NaN

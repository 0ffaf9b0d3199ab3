import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { allocateInYoungGeneration } from '../cli/young-generation.ts'

setFlagsFromString('--expose-gc')
// As in the server.
allocateInYoungGeneration()

/** Collects garbage in the whole heap, or only in its young generation. */
export const collectGarbage = runInNewContext('gc') as NonNullable<typeof gc>

/** Returns the used size of the old generation of the heap, bytes. */
export const oldGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ??
  Number.NaN

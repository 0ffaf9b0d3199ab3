import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects garbage in the whole heap, or only in its young generation. */
export const collectGarbage = runInNewContext('gc') as NonNullable<typeof gc>

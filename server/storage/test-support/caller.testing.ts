import type { Caller } from '../../concurrency/caller.ts'

/** Returns a caller, by default one that does not disconnect. */
export const testCaller = (signal = new AbortController().signal, id = 'caller'): Caller => ({
  id,
  signal,
})

import { Failure } from '../failure.ts'

/**
 * Maximum number of open event streams per person and node, including those of tokens. A browser
 * uses one.
 */
export const STREAMS_PER_PERSON = 50

/** Maximum number of open event streams per node. */
export const STREAMS = 1_000

/** Limits the number of open event streams: each event costs work for every stream. */
export interface StreamLimit {
  /**
   * Reserves a stream for a person. Returns a function that releases it.
   *
   * @throws Failure `too-many-requests`
   */
  enter(personId: string): () => void
}

export function createStreamLimit(ofPerson = STREAMS_PER_PERSON, all = STREAMS): StreamLimit {
  const open = new Map<string, number>()
  let total = 0
  return {
    enter(personId) {
      const count = open.get(personId) ?? 0
      if (count >= ofPerson) throw tooMany(`You have ${count} open event streams on this node`)
      if (total >= all) throw tooMany(`This node has ${total} open event streams`)
      open.set(personId, count + 1)
      total++
      let entered = true
      return () => {
        if (!entered) return
        entered = false
        total--
        const remaining = (open.get(personId) ?? 1) - 1
        if (remaining === 0) open.delete(personId)
        else open.set(personId, remaining)
      }
    },
  }
}

const tooMany = (what: string) =>
  new Failure('too-many-requests', `${what}, the maximum. Close one and try again.`, {
    headers: { 'Retry-After': '60' },
  })

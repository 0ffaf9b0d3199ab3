import { PersonLimit } from '../concurrency/person-limit.ts'
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
  const open = new PersonLimit(all, ofPerson)
  return {
    enter(personId) {
      const reached = open.enter(personId)
      if (reached !== undefined) {
        throw tooMany(
          reached === 'person'
            ? `You have ${ofPerson} open event streams on this node`
            : `This node has ${all} open event streams`,
        )
      }
      let entered = true
      return () => {
        if (!entered) return
        entered = false
        open.leave(personId)
      }
    },
  }
}

const tooMany = (what: string) =>
  new Failure('too-many-requests', `${what}, the maximum. Close one and try again.`, {
    headers: { 'Retry-After': '60' },
  })

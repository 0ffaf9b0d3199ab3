import { Failure } from '../failure.ts'

/** The most event streams that one person has open at a node, tokens included: one per browser. */
export const STREAMS_OF_PERSON = 50

/** The most event streams of a node. */
export const STREAMS = 1_000

/** Bounds the event streams that are open: each event costs some work for each of them. */
export interface StreamLimit {
  /**
   * Takes a place for a stream of a person. Returns a function that gives it back.
   *
   * @throws Failure `too-many-requests`
   */
  enter(personId: string): () => void
}

/** Makes a {@link StreamLimit}. */
export function createStreamLimit(ofPerson = STREAMS_OF_PERSON, all = STREAMS): StreamLimit {
  const open = new Map<string, number>()
  let total = 0
  return {
    enter(personId) {
      const own = open.get(personId) ?? 0
      if (own >= ofPerson) throw tooMany(`You have ${own} event streams open at this node`)
      if (total >= all) throw tooMany(`This node has ${total} event streams open`)
      open.set(personId, own + 1)
      total++
      let entered = true
      return () => {
        if (!entered) return
        entered = false
        total--
        const left = (open.get(personId) ?? 1) - 1
        if (left === 0) open.delete(personId)
        else open.set(personId, left)
      }
    },
  }
}

const tooMany = (what: string) =>
  new Failure(
    'too-many-requests',
    `${what}, which is the most allowed. Close one, then try again.`,
    {
      headers: { 'Retry-After': '60' },
    },
  )

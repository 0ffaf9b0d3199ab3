import { SYSTEM_DATABASE } from '../contract/database.ts'
import { Failure } from '../failure.ts'
import type { Listener } from './listener.ts'
import { reaches } from './mapping.ts'

/**
 * The listeners through which `_system` can be reached now, so that the last of them is neither
 * removed nor remapped away: nobody could then administer the server.
 */
export interface WaysIn {
  /** Looks at a listener again, after its state or mapping has changed. */
  look(listener: Listener): void
  /** Strikes out a listener that is gone. */
  forget(listener: Listener): void
  /**
   * Strikes out a listener that is about to go or to be mapped elsewhere. Checking and striking out
   * are one step, so of two removals at once that would leave none, one is refused. Whoever then
   * fails to carry out the change calls {@link look}.
   *
   * @throws Failure `conflict` if it is the last one.
   */
  giveUp(listener: Listener): void
  /** Their addresses. */
  names(): string[]
}

/** Makes {@link WaysIn}, none so far. */
export function createWaysIn(): WaysIn {
  const ways = new Set<Listener>()
  return {
    look(listener) {
      if (listener.state === 'listening' && reaches(listener.mapping, SYSTEM_DATABASE))
        ways.add(listener)
      else ways.delete(listener)
    },
    forget(listener) {
      ways.delete(listener)
    },
    giveUp(listener) {
      if (ways.size === 1 && ways.has(listener)) {
        throw new Failure(
          'conflict',
          'Nobody could administer this server without this endpoint: no other reaches _system. ' +
            'Add one that does first.',
        )
      }
      ways.delete(listener)
    },
    names: () => [...ways].map(({ name }) => name),
  }
}

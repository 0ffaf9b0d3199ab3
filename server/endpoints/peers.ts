import type { Transaction } from 'kysely'
import type { Address } from '../contract/address.ts'
import type { Tables } from '../storage/tables.ts'
import type { Listener } from './listener.ts'

/** The other nodes of the store, as the endpoints of this one need to know them. */
export interface Peers {
  /** By which this node is known to the others. */
  readonly node: string
  /** Whether there are others that live. */
  readonly any: boolean
  /** Whether one that lives, on this machine, listens on the port of that address. */
  holdHere(address: Address): boolean
  /** Tells the others how a listener of this node is, now or soon. */
  report(listener: Listener): void
  /** Tells the others that a listener of this node is no more. */
  forget(listener: Listener): void
  /**
   * Asks those that have such a listener to do something with it; resolves with how many there are,
   * once they are asked.
   *
   * @throws Failure `unavailable`
   */
  ask(address: string, what: Asked): Promise<number>
  /**
   * Lets a change pass that takes an endpoint out of the ways to `_system`, in the change's
   * transaction and under its lock, so that of two removals at two nodes that would leave none, one
   * is refused.
   *
   * @param own the addresses through which this node leads to `_system` now.
   * @throws Failure `conflict` if it is the last one.
   */
  requireOtherWay(trx: Transaction<Tables>, address: string, own: readonly string[]): Promise<void>
}

/** What can be asked of the node that has a listener: to try a failed one, to cut a draining one. */
export type Asked = 'retry' | 'close'

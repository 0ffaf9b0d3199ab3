import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import type { ConnectionUse } from '../storage/connection-limits.ts'
import type { Away } from '../storage/reach.ts'
import type { ReadOnly } from '../storage/write-check.ts'
import type { Stale } from './freshness.ts'

/** Whether this node is to be sent requests, and if not, why. */
export interface Readiness {
  /** The reason why not, for people; `null` when it is ready. */
  reason: string | null
  /** How the connections to the store are used; by default, there are none. */
  connections: () => ConnectionUse
  /** Why changes cannot be stored, for people; `null` when they can. Reads go on. */
  readonly readOnly: string | null
}

/** The {@link Readiness} of a node that follows its store. */
export interface NodeReadiness extends Readiness {
  /** Told when the store goes away, again while it is waited for, and with undefined when it is back. */
  readonly storeIs: (away: Away | undefined) => void
  /** Told when the state of the node becomes stale (`freshness.ts`), and when it is fresh again. */
  readonly stateIs: (stale: Stale | undefined) => void
  /** Whether the state is fresh now; by default it always is. */
  isFresh: () => boolean
  /** Called when the store accepts no changes, and with undefined when it does again. */
  readonly storeIsReadOnly: (readOnly: ReadOnly | undefined) => void
  /** Adds what it knows to the metrics. */
  register(metrics: Registry): void
}

/**
 * Makes the readiness of a node that is starting. Without its store a node is not ready, whatever it
 * set as its own `reason`; the log says when and why the store went, and when it came back.
 */
export function createReadiness(log: Logger): NodeReadiness {
  let own: string | null = 'The node is starting.'
  let away: Away | undefined
  let unwritable: ReadOnly | undefined
  const seconds = (since: number) => Math.round((Date.now() - since) / 1000)
  const whyAway = () => {
    if (away === undefined) return null
    const { since, advice } = away
    const sentence = `The store cannot be reached since ${new Date(since).toISOString()}.`
    return advice === undefined ? sentence : `${sentence} ${advice}`
  }
  return {
    isFresh: () => true,
    connections: () => ({ used: 0, waiting: 0 }),
    get reason() {
      return own ?? whyAway() ?? (this.isFresh() ? null : STALE)
    },
    get readOnly() {
      if (away !== undefined || unwritable === undefined) return whyAway()
      const since = new Date(unwritable.since).toISOString()
      return `Changes cannot be stored since ${since}: ${unwritable.reason}.`
    },
    set reason(reason) {
      own = reason
    },
    storeIs(now) {
      if (now !== undefined) {
        const { reason, since } = now
        log.warn({ reason, seconds: seconds(since) }, 'the store is away, waiting for it')
      } else if (away !== undefined) {
        log.info({ seconds: seconds(away.since) }, 'the store is back')
      }
      away = now
    },
    stateIs(stale) {
      if (stale === undefined) return log.info('the state of this node is confirmed again')
      const { reason } = stale
      log.warn(
        { reason: reason instanceof Error ? reason.message : undefined },
        'the state of this node is not confirmed, serving no data',
      )
    },
    storeIsReadOnly(now) {
      if (now !== undefined) {
        log.warn({ reason: now.reason }, 'the store accepts no changes, trying again')
      } else if (unwritable !== undefined) {
        log.info({ seconds: seconds(unwritable.since) }, 'the store accepts changes again')
      }
      unwritable = now
    },
    register(metrics) {
      const gauge = (name: string, help: string, value: () => number | boolean) =>
        new Gauge({
          name,
          help,
          registers: [metrics],
          collect() {
            this.set(Number(value()))
          },
        })
      gauge('gatehouse_store_up', '1 while the store can be reached', () => away === undefined)
      gauge(
        'gatehouse_store_writable',
        '1 while changes can be stored',
        () => this.readOnly === null,
      )
      gauge(
        'gatehouse_ready',
        '1 while this node is to be sent requests',
        () => this.reason === null,
      )
      gauge(
        'gatehouse_store_connections',
        'Connections of the pool to PostgreSQL that are in use',
        () => this.connections().used,
      )
      gauge(
        'gatehouse_store_waiting',
        'Statements and transactions that wait for a connection to PostgreSQL',
        () => this.connections().waiting,
      )
    },
  }
}

const STALE = 'This node cannot confirm that its state is current.'

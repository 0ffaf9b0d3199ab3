import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import type { Health } from '../contract/health.ts'
import type { ConnectionUse } from '../storage/availability/connection-limits.ts'
import type { Outage } from '../storage/availability/health-monitor.ts'
import type { ReadOnly } from '../storage/availability/write-check.ts'
import type { Stale } from './freshness.ts'

/** Whether this node should receive requests, and if not, why. */
export interface Readiness {
  /** Why the node is not ready; `null` when it is ready. */
  reason: string | null
  /** Returns the use of store connections; by default none. */
  connections: () => ConnectionUse
  /** Why changes cannot be stored; `null` when they can. Reads still work. */
  readonly readOnly: string | null
}

/** Returns the health of a node, for its routes and for the command `gatehouse health`. */
export const healthOf = (readiness: Readiness): Health => ({
  alive: true,
  ready: readiness.reason === null,
  waiting: readiness.connections().waiting,
  writable: readiness.readOnly === null,
  reason: readiness.reason ?? readiness.readOnly,
})

/** The {@link Readiness} of a node that follows its store. */
export interface NodeReadiness extends Readiness {
  /**
   * Called when the store becomes unavailable, on each retry, and with undefined when it is
   * available again.
   */
  readonly setOutage: (outage: Outage | undefined) => void
  /**
   * Called when the state of the node becomes stale (`freshness.ts`), and with undefined when it is
   * fresh again.
   */
  readonly setStale: (stale: Stale | undefined) => void
  /** Returns whether the state is fresh; by default always true. */
  isFresh: () => boolean
  /** Called when the store accepts no changes, and with undefined when it does again. */
  readonly setReadOnly: (readOnly: ReadOnly | undefined) => void
  /** Adds its gauges to the metrics. */
  register(metrics: Registry): void
}

/**
 * Returns the readiness of a node that is starting. While the store is unavailable, the node is not
 * ready, even if its own `reason` is null. The log records why and when the store became
 * unavailable and when it returned.
 */
export function createReadiness(log: Logger): NodeReadiness {
  let ownReason: string | null = 'The node is starting.'
  let outage: Outage | undefined
  let unwritable: ReadOnly | undefined
  const seconds = (since: number) => Math.round((Date.now() - since) / 1000)
  const outageReason = () => {
    if (outage === undefined) return null
    const { since, advice } = outage
    const sentence = `The database has been unavailable since ${new Date(since).toISOString()}.`
    return advice === undefined ? sentence : `${sentence} ${advice}`
  }
  return {
    isFresh: () => true,
    connections: () => ({ used: 0, waiting: 0 }),
    get reason() {
      return ownReason ?? outageReason() ?? (this.isFresh() ? null : STALE_MESSAGE)
    },
    get readOnly() {
      if (outage !== undefined || unwritable === undefined) return outageReason()
      const since = new Date(unwritable.since).toISOString()
      return `Changes have been rejected since ${since}: ${unwritable.reason}.`
    },
    set reason(reason) {
      ownReason = reason
    },
    setOutage(now) {
      if (now !== undefined) {
        const { reason, since } = now
        log.warn({ reason, seconds: seconds(since) }, 'the database is unavailable, retrying')
      } else if (outage !== undefined) {
        log.info({ seconds: seconds(outage.since) }, 'the database is available again')
      }
      outage = now
    },
    setStale(stale) {
      if (stale === undefined) return log.info('the state of this node is current again')
      const { reason } = stale
      log.warn(
        { reason: reason instanceof Error ? reason.message : undefined },
        'cannot confirm that the state of this node is current, rejecting requests',
      )
    },
    setReadOnly(now) {
      if (now !== undefined) {
        log.warn({ reason: now.reason }, 'the database does not accept changes, retrying')
      } else if (unwritable !== undefined) {
        log.info({ seconds: seconds(unwritable.since) }, 'the database accepts changes again')
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
      gauge('gatehouse_store_up', '1 if the database is available', () => outage === undefined)
      gauge(
        'gatehouse_store_writable',
        '1 if the database accepts changes',
        () => this.readOnly === null,
      )
      gauge('gatehouse_ready', '1 if this node is ready for requests', () => this.reason === null)
      gauge(
        'gatehouse_store_connections',
        'PostgreSQL connections in use',
        () => this.connections().used,
      )
      gauge(
        'gatehouse_store_waiting',
        'Statements and transactions that wait for a PostgreSQL connection',
        () => this.connections().waiting,
      )
    },
  }
}

const STALE_MESSAGE = 'This node cannot confirm that its state is current.'

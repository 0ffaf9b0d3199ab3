import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import type { Away } from '../storage/reach.ts'

/** Whether this node is to be sent requests, and if not, why. */
export interface Readiness {
  /** The reason why not, for people; `null` when it is ready. */
  reason: string | null
}

/** The {@link Readiness} of a node that follows its store. */
export interface NodeReadiness extends Readiness {
  /** Told when the store goes away, again while it is waited for, and with undefined when it is back. */
  readonly storeIs: (away: Away | undefined) => void
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
  return {
    get reason() {
      if (own !== null || away === undefined) return own
      const { since, advice } = away
      const sentence = `The store cannot be reached since ${new Date(since).toISOString()}.`
      return advice === undefined ? sentence : `${sentence} ${advice}`
    },
    set reason(reason) {
      own = reason
    },
    storeIs(now) {
      const seconds = (since: number) => Math.round((Date.now() - since) / 1000)
      if (now !== undefined) {
        const { reason, since } = now
        log.warn({ reason, seconds: seconds(since) }, 'the store is away, waiting for it')
      } else if (away !== undefined) {
        log.info({ seconds: seconds(away.since) }, 'the store is back')
      }
      away = now
    },
    register(metrics) {
      const gauge = (name: string, help: string, isSo: () => boolean) =>
        new Gauge({
          name,
          help,
          registers: [metrics],
          collect() {
            this.set(isSo() ? 1 : 0)
          },
        })
      gauge('gatehouse_store_up', '1 while the store can be reached', () => away === undefined)
      gauge(
        'gatehouse_ready',
        '1 while this node is to be sent requests',
        () => this.reason === null,
      )
    },
  }
}

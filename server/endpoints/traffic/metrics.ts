import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { createTurns } from '../storage/turns.ts'
import type { Listener } from './listener.ts'
import { printListenerMetrics } from './listener-metrics.ts'

/** So long the metrics are served as they were built, ms. */
const KEPT = 1_000

/** The metrics of a node. */
export interface Metrics {
  /** All but those of listeners; others add theirs. */
  readonly registry: Registry
  readonly contentType: string
  /**
   * Returns the text in parts. It is built in steps between which requests have their turn, once for
   * all who ask at the same time, and kept for a second.
   */
  read(): Promise<readonly Buffer[]>
}

/**
 * Makes the metrics of a node: of its process, and of each endpoint its connections, requests by
 * status, durations in seconds and bytes. Everything is read off the listeners when it is asked for,
 * so a request costs nothing here, and an endpoint that is removed is gone from the next text.
 *
 * @param unsent bytes of responses that clients have not read yet.
 */
export function createMetrics(
  listeners: () => readonly Listener[],
  unsent: () => number = () => 0,
): Metrics {
  const nextTurn = createTurns()
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'gatehouse_unsent_response_bytes',
    help: 'Bytes of responses that are being prepared or that clients have not read yet',
    registers: [registry],
    collect() {
      this.set(unsent())
    },
  })

  async function build(): Promise<readonly Buffer[]> {
    const parts = [Buffer.from(await registry.metrics())]
    for (const text of printListenerMetrics(listeners())) {
      if (text === '') continue
      parts.push(Buffer.from(text))
      await nextTurn()
    }
    return parts
  }

  let built: Promise<readonly Buffer[]> | undefined
  const forget = () => {
    built = undefined
  }
  return {
    registry,
    contentType: registry.contentType,
    read() {
      if (built === undefined) {
        built = build()
        built.then(() => setTimeout(forget, KEPT).unref(), forget)
      }
      return built
    },
  }
}

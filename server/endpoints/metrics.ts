import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { nextTurn } from '../concurrency/turns.ts'
import { printListenerMetrics } from './listener-metrics.ts'
import type { Listener } from './listeners/listener.ts'

/** How long the rendered metrics are cached, ms. */
const CACHED_FOR = 1_000

export interface Metrics {
  /** The metrics that are not per listener. Other modules register theirs here. */
  readonly registry: Registry
  readonly contentType: string
  /**
   * Returns the text in parts. The event loop serves requests between the parts. Concurrent callers
   * share one result, which is cached for a second.
   */
  read(): Promise<readonly Buffer[]>
}

/**
 * Creates the metrics of a node: its process and, per endpoint, connections, bytes, and requests by
 * status and duration. The values are read from the listeners on demand, so requests have no
 * overhead here and removed endpoints disappear.
 *
 * @param unsent returns the bytes of responses that clients have not read yet.
 * @param droppedLogLines returns the number of lines that could not be written to the log.
 */
export function createMetrics(
  listeners: () => readonly Listener[],
  unsent: () => number = () => 0,
  droppedLogLines: () => number = () => 0,
): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'gatehouse_unsent_response_bytes',
    help: 'Bytes of responses that are being prepared or have not been read by clients',
    registers: [registry],
    collect() {
      this.set(unsent())
    },
  })
  new Counter({
    name: 'gatehouse_log_lines_dropped_total',
    help: 'Lines that could not be written to the log',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLogLines())
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
        built.then(() => setTimeout(forget, CACHED_FOR).unref(), forget)
      }
      return built
    },
  }
}

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { nextTurn } from '../concurrency/turns.ts'
import { administrationScope, createEndpointView, type Scope } from '../contract/access/scope.ts'
import { printListenerMetrics } from './listener-metrics.ts'
import type { Listener } from './listeners/listener.ts'

/** How long the rendered metrics are cached, ms. */
const CACHED_FOR = 1_000

export interface Metrics {
  /** The metrics that are not per listener. Other modules register theirs here. */
  readonly registry: Registry
  readonly contentType: string
  /**
   * Returns the text in parts, with the endpoints that serve a database of a scope. The event loop
   * serves requests between the parts. Concurrent callers with the same scope share one result,
   * which is cached for a second.
   */
  read(scope?: Scope): Promise<readonly Buffer[]>
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

  async function build(scope: Scope): Promise<readonly Buffer[]> {
    const parts = [Buffer.from(await registry.metrics())]
    const view = createEndpointView(scope)
    const shown = listeners().filter(({ mapping }) => view.shows(mapping.names))
    for (const text of printListenerMetrics(shown)) {
      if (text === '') continue
      parts.push(Buffer.from(text))
      await nextTurn()
    }
    return parts
  }

  const built = new Map<string, Promise<readonly Buffer[]>>()
  return {
    registry,
    contentType: registry.contentType,
    read(given = null) {
      const scope = administrationScope(given)
      const key = JSON.stringify(scope)
      const cached = built.get(key)
      if (cached !== undefined) return cached
      const building = build(scope)
      built.set(key, building)
      const forget = () => void built.delete(key)
      building.then(() => setTimeout(forget, CACHED_FOR).unref(), forget)
      return building
    },
  }
}

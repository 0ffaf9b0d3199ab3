import type { ListenerStatus } from '../../server/contract/listener.ts'
import type { EndpointRow } from './endpoint-rows.ts'

/** What of a row changes all the time. */
export interface Figures {
  readonly connections: number
  readonly requestsPerSecond: number
  readonly lastRequest: string | null
  /** Requests per second of the last steps, oldest first; `undefined` where not asked for. */
  readonly recent?: readonly (number | null)[] | undefined
}

/**
 * The figures of rows that are or were in sight, beside the rows: a figure that changes draws its
 * own cells again and nothing else.
 */
export interface LiveFigures {
  /** `undefined`: never in sight; then the row has the figures of its own reading. */
  get(id: string): Figures | undefined
  /** Takes what was read of rows; calls back those whose figures are others now. */
  take(rows: readonly EndpointRow[], read: readonly ListenerStatus[]): void
  /** Rows that are others than before were made from a reading just now: it has newer figures. */
  follow(rows: readonly EndpointRow[], before: ReadonlyMap<string, EndpointRow>): void
  subscribe(id: string, listener: () => void): () => void
}

/** A status with the past, which is in a reading only where it was asked for. */
type Read = ListenerStatus & { readonly recent?: readonly (number | null)[] | undefined }

/** Makes the {@link LiveFigures} of a page. */
export function createLiveFigures(): LiveFigures {
  const figures = new Map<string, Figures>()
  const listeners = new Map<string, Set<() => void>>()
  const put = (id: string, next: Figures) => {
    const now = figures.get(id)
    if (now !== undefined && sameFigures(now, next)) return
    figures.set(id, next)
    for (const listener of listeners.get(id) ?? []) listener()
  }
  return {
    get: (id) => figures.get(id),
    take: (rows, read) => {
      const by = Map.groupBy(read as readonly Read[], ({ endpoint }) => endpoint)
      for (const row of rows) {
        const own = (by.get(row.address) ?? []).filter((one) => isOf(row, one))
        if (own.length > 0) put(row.id, sumFigures(own))
      }
    },
    follow: (rows, before) => {
      if (figures.size === 0) return
      for (const row of rows) {
        const known = figures.get(row.id)
        if (known === undefined || before.get(row.id) === row) continue
        const { connections, requestsPerSecond, lastRequest } = row
        put(row.id, { connections, requestsPerSecond, lastRequest, recent: known.recent })
      }
    },
    subscribe: (id, listener) => {
      const some = listeners.get(id) ?? new Set()
      listeners.set(id, some.add(listener))
      return () => {
        some.delete(listener)
        if (some.size === 0) listeners.delete(id)
      }
    },
  }
}

/** A removed one that drains and its successor have the same address. */
const isOf = ({ listeners }: EndpointRow, { node, state }: ListenerStatus): boolean =>
  listeners.some(
    (one) => one.node === node && (one.state === 'draining') === (state === 'draining'),
  )

/** The figures of one row, from those of its listeners. */
export function sumFigures(listeners: readonly Read[]): Figures {
  let [connections, requestsPerSecond] = [0, 0]
  let lastRequest: string | null = null
  let recent: (number | null)[] | undefined
  for (const one of listeners) {
    connections += one.connections
    requestsPerSecond += one.requestsPerSecond
    if (one.lastRequest !== null && (lastRequest === null || one.lastRequest > lastRequest)) {
      lastRequest = one.lastRequest
    }
    if (one.recent !== undefined) recent = addUp(recent, one.recent)
  }
  return { connections, requestsPerSecond, lastRequest, recent }
}

/** Two pasts added, the latest steps of both at the same time; no data in both stays none. */
function addUp(
  a: readonly (number | null)[] | undefined,
  b: readonly (number | null)[],
): (number | null)[] {
  if (a === undefined) return [...b]
  const length = Math.max(a.length, b.length)
  return Array.from({ length }, (_, at) => {
    const [x, y] = [a.at(at - length) ?? null, b.at(at - length) ?? null]
    return x === null && y === null ? null : (x ?? 0) + (y ?? 0)
  })
}

const sameFigures = (a: Figures, b: Figures) =>
  a.connections === b.connections &&
  a.requestsPerSecond === b.requestsPerSecond &&
  a.lastRequest === b.lastRequest &&
  (a.recent === b.recent || `${a.recent}` === `${b.recent}`)

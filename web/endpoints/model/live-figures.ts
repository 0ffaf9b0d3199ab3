import type { LastMinute, ListenerStatus } from '../../../server/contract/endpoints/listener.ts'

/** The figures of a row that change with traffic. */
export interface Figures {
  readonly connections: number
  readonly requestsPerSecond: number
  readonly lastRequest: string | null
  readonly lastMinute: LastMinute
  /** Requests per second in the latest intervals, oldest first; `undefined` if not requested. */
  readonly recent?: readonly (number | null)[] | undefined
}

interface FigureRow extends Figures {
  readonly id: string
  readonly address: string
  readonly listeners: readonly ListenerStatus[]
}

/**
 * The figures of rows that are or were visible, kept outside of the rows, so that a change renders
 * only the cells that show it.
 */
export interface LiveFigures {
  /**
   * Returns the figures of a row; `undefined` if it was never visible. The row then has its own.
   */
  get(id: string): Figures | undefined
  /** Stores the figures of rows that were read and notifies subscribers of changed rows. */
  take(rows: readonly FigureRow[], read: readonly ListenerStatus[]): void
  /** Stores the figures of rows that differ from `before`, because they are newer. */
  follow(rows: readonly FigureRow[], before: ReadonlyMap<string, FigureRow>): void
  subscribe(id: string, listener: () => void): () => void
}

/** A listener status with its recent request rates, present only if requested. */
type Read = ListenerStatus & { readonly recent?: readonly (number | null)[] | undefined }

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
        const figuresOfRow = (by.get(row.address) ?? []).filter((one) => belongsTo(row, one))
        if (figuresOfRow.length > 0) put(row.id, sumFigures(figuresOfRow))
      }
    },
    follow: (rows, before) => {
      if (figures.size === 0) return
      for (const row of rows) {
        const previous = figures.get(row.id)
        if (previous === undefined || before.get(row.id) === row) continue
        const { connections, requestsPerSecond, lastRequest, lastMinute } = row
        const { recent } = previous
        put(row.id, { connections, requestsPerSecond, lastRequest, lastMinute, recent })
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

/** A removed endpoint that is draining and its successor have the same address. */
const belongsTo = ({ listeners }: FigureRow, { node, state }: ListenerStatus): boolean =>
  listeners.some(
    (one) => one.node === node && (one.state === 'draining') === (state === 'draining'),
  )

/** Returns the figures of a row, summed over its listeners. */
export function sumFigures(listeners: readonly Read[]): Figures {
  let [connections, requestsPerSecond] = [0, 0]
  let lastRequest: string | null = null
  const lastMinute = { requests: 0, rejected: 0, failed: 0 }
  let recent: (number | null)[] | undefined
  for (const one of listeners) {
    connections += one.connections
    requestsPerSecond += one.requestsPerSecond
    if (one.lastRequest !== null && (lastRequest === null || one.lastRequest > lastRequest)) {
      lastRequest = one.lastRequest
    }
    lastMinute.requests += one.lastMinute?.requests ?? 0
    lastMinute.rejected += one.lastMinute?.rejected ?? 0
    lastMinute.failed += one.lastMinute?.failed ?? 0
    if (one.recent !== undefined) recent = sumSeries(recent, one.recent)
  }
  return { connections, requestsPerSecond, lastRequest, lastMinute, recent }
}

/** Share of rejected or failed requests above which an endpoint is unhealthy, in percent. */
const HIGH_SHARE = 5

/**
 * Returns the share of the rejected or of the failed requests in the last minute, the larger one:
 * "12% rejected". Undefined if there are none.
 */
export function errorShare({ requests, rejected, failed }: LastMinute) {
  const [count, word] = failed >= rejected ? [failed, 'failed'] : [rejected, 'rejected']
  if (count === 0) return undefined
  const percent = (count / requests) * 100
  // 100 means all, and 0 none.
  const rounded = percent === 100 ? 100 : Math.min(99, Math.max(1, Math.round(percent)))
  return { text: `${rounded}% ${word}`, high: percent > HIGH_SHARE }
}

/** Adds two series aligned at their latest interval. Intervals without data in both stay null. */
function sumSeries(
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
  a.lastMinute.requests === b.lastMinute.requests &&
  a.lastMinute.rejected === b.lastMinute.rejected &&
  a.lastMinute.failed === b.lastMinute.failed &&
  (a.recent === b.recent || `${a.recent}` === `${b.recent}`)

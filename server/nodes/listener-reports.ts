import type { ListenerStatus } from '../contract/endpoints/listener.ts'

/** A listener as its node reports it. */
export interface ReportedListener {
  readonly id: number
  readonly status: ListenerStatus
}

/** What a node reports to the others. */
export interface Report {
  /** The listeners that are new or have changed. */
  readonly changed: readonly ReportedListener[]
  /** The ids of the listeners that have closed. */
  readonly closed: readonly number[]
  /** Number of all listeners of the node. */
  readonly total: number
  /** Whether the other nodes are notified: not for traffic alone. */
  readonly notify: boolean
}

/** The listeners of this node, and which of them the other nodes have to read. */
export interface ListenerReports {
  /** Adds or updates a listener. `status` is called for each report. */
  set(id: number, status: () => ListenerStatus): void
  /** Removes a listener. Returns whether it existed. */
  delete(id: number): boolean
  /** Returns the changes since the last report. A heartbeat also reports new traffic. */
  take(isHeartbeat: boolean): Report
  /** Returns a report of all listeners. */
  all(): Report
  /** Adds the changes of a report that was not stored to the next one. */
  requeue(report: Report): void
}

interface Own {
  readonly status: () => ListenerStatus
  /** The counters of the last report. */
  traffic: string
}

/** Creates {@link ListenerReports} without listeners. */
export function createListenerReports(): ListenerReports {
  const reports = new Map<number, Own>()
  const changed = new Set<number>()
  const closed = new Set<number>()
  return {
    set(id, status) {
      reports.set(id, { status, traffic: reports.get(id)?.traffic ?? '' })
      changed.add(id)
    },
    delete(id) {
      if (!reports.delete(id)) return false
      changed.delete(id)
      closed.add(id)
      return true
    },
    take(isHeartbeat) {
      const notify = changed.size + closed.size > 0
      const reported: ReportedListener[] = []
      for (const id of isHeartbeat ? reports.keys() : changed) {
        const listener = reports.get(id)
        if (listener === undefined) continue
        const status = listener.status()
        const traffic = trafficOf(status)
        if (!changed.has(id) && traffic === listener.traffic) continue
        listener.traffic = traffic
        reported.push({ id, status })
      }
      const report = { changed: reported, closed: [...closed], total: reports.size, notify }
      changed.clear()
      closed.clear()
      return report
    },
    all: () => ({
      changed: [...reports].map(([id, { status }]) => ({ id, status: status() })),
      closed: [],
      total: reports.size,
      notify: true,
    }),
    requeue(report) {
      for (const { id } of report.changed) if (reports.has(id)) changed.add(id)
      for (const id of report.closed) closed.add(id)
    },
  }
}

/** Returns the counters whose change is reported even if the state is the same. */
const trafficOf = (status: ListenerStatus): string =>
  [
    status.connections,
    status.requests,
    status.bytesIn,
    status.bytesOut,
    status.requestsPerSecond,
    // Decreases after the last request.
    status.lastMinute?.requests,
  ].join()

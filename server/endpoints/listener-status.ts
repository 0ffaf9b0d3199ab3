import { formatAddress } from '../contract/endpoints/address.ts'
import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import type { Listener } from './listeners/listener.ts'

/** Returns null for a time that was never set. */
const timeOf = (ms: number | undefined) => toIsoTime(ms || null)

/** Returns the status of a listener as `/_api/listener` reports it, read from its sockets. */
export function listenerStatus(listener: Listener, node: string): ListenerStatus {
  const { bytes, bound, failing } = listener
  const error = listener.state === 'failed' ? listener.error : undefined
  const systemCode = error?.details.systemCode
  return {
    endpoint: listener.name,
    node,
    ...(bound !== undefined && { bound: formatAddress(bound) }),
    state: listener.state,
    error: error?.message ?? null,
    ...(systemCode !== undefined && { systemCode }),
    since: toIsoTime(listener.since),
    ...(failing !== undefined && {
      failingSince: toIsoTime(failing.since),
      attempts: failing.attempts,
    }),
    nextTry: timeOf(listener.nextTry),
    drainUntil: timeOf(listener.drainUntil),
    revision: listener.revision,
    connections: listener.connections,
    requests: listener.traffic.requests,
    requestsPerSecond: listener.traffic.requestsPerSecond,
    bytesIn: bytes.in,
    bytesOut: bytes.out,
    lastRequest: timeOf(listener.traffic.lastRequest),
    lastMinute: listener.traffic.lastMinute,
  }
}

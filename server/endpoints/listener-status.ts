import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import type { Listener } from './listeners/listener.ts'

const time = (ms: number | undefined) =>
  ms === undefined || ms === 0 ? null : new Date(ms).toISOString()

/** Returns the status of a listener as `/_api/listener` reports it, read from its sockets. */
export function listenerStatus(listener: Listener, node: string): ListenerStatus {
  const bytes = listener.bytes
  return {
    endpoint: listener.name,
    node,
    state: listener.state,
    error: listener.state === 'failed' ? (listener.error?.message ?? null) : null,
    since: new Date(listener.since).toISOString(),
    nextTry: time(listener.nextTry),
    drainUntil: time(listener.drainUntil),
    revision: listener.revision,
    connections: listener.connections,
    requests: listener.traffic.requests,
    requestsPerSecond: listener.traffic.requestsPerSecond,
    bytesIn: bytes.in,
    bytesOut: bytes.out,
    lastRequest: time(listener.traffic.lastRequest),
  }
}

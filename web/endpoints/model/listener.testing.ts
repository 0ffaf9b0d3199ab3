import type { ListenerState, ListenerStatus } from '../../../server/contract/endpoints/listener.ts'

/** Returns a listener of node `a`, idle by default. */
export const listener = (
  endpoint: string,
  state: ListenerState = 'listening',
  more: Partial<ListenerStatus> = {},
): ListenerStatus => ({
  endpoint,
  node: 'a',
  state,
  error: null,
  since: '2026-01-01T00:00:00Z',
  nextTry: null,
  drainUntil: null,
  revision: 1,
  connections: 0,
  requests: 0,
  requestsPerSecond: 0,
  bytesIn: 0,
  bytesOut: 0,
  lastRequest: null,
  ...more,
})

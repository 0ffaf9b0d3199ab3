import type { ListenerState } from './listener.ts'

/** The state of an endpoint: the most severe one of its {@link decisiveListeners}. */
export type EndpointState = ListenerState | 'unknown'

/** All states, most severe first. An endpoint that is open only on other machines is healthy. */
export const SEVERITY = [
  'failed',
  'unknown',
  'opening',
  'draining',
  'listening',
  'elsewhere',
  'closed',
] as const satisfies readonly EndpointState[]

/** What a listener tells about its state. */
interface ReportedState {
  readonly state: ListenerState
  readonly silentSince?: string | undefined
}

/** Returns the state of a listener; `unknown` if its node is unreachable. */
export const stateOf = ({ state, silentSince }: ReportedState): EndpointState =>
  silentSince === undefined ? state : 'unknown'

/** Returns the most severe of several states; `unknown` for an empty list. */
export const mostSevereOf = (states: readonly EndpointState[]): EndpointState =>
  SEVERITY.find((state) => states.includes(state)) ?? 'unknown'

/**
 * Returns the listeners that determine the state of an endpoint. Unreachable nodes are reported once
 * for all endpoints; their listeners count only if no reachable node serves the endpoint instead.
 */
export function decisiveListeners<L extends ReportedState>(listeners: readonly L[]): readonly L[] {
  const reachable = listeners.filter(({ silentSince }) => silentSince === undefined)
  if (reachable.length === listeners.length) return listeners
  const isServed = reachable.some(({ state }) => state !== 'elsewhere')
  const hasLost = listeners.some(
    ({ silentSince, state }) => silentSince !== undefined && state !== 'elsewhere',
  )
  return reachable.length > 0 && (isServed || !hasLost) ? reachable : listeners
}

/** Returns the listener that determines the state of an endpoint; undefined if there is none. */
export const leadOf = <L extends ReportedState>(listeners: readonly L[]): L | undefined =>
  decisiveListeners(listeners).reduce<L | undefined>(
    (worst, one) => (worst === undefined || severityOf(one) < severityOf(worst) ? one : worst),
    undefined,
  )

const severityOf = (listener: ReportedState) => SEVERITY.indexOf(stateOf(listener))

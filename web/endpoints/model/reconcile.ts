import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { mergeParts } from '../../api/merge-parts.ts'
import { stateOf } from './endpoint-rows.ts'

/**
 * Returns the known listeners, corrected by a newer read of some addresses. Live events may have
 * been lost, so listeners in another state are replaced. A read that is older than the known state
 * is ignored. Returns `known` itself if nothing changes.
 */
export function reconcile(
  known: ListenerStatus[],
  addresses: readonly string[],
  read: readonly ListenerStatus[],
): ListenerStatus[] {
  const wanted = new Set(addresses)
  const before = Map.groupBy(
    known.filter(({ endpoint }) => wanted.has(endpoint)),
    ({ endpoint }) => endpoint,
  )
  const now = Map.groupBy(read, ({ endpoint }) => endpoint)
  const wrong = addresses.filter((address) => {
    const [was = [], is = []] = [before.get(address), now.get(address)]
    return statesOf(was) !== statesOf(is) && !isOlder(is, was)
  })
  return wrong.length === 0 ? known : mergeParts(known, wrong, read)
}

const statesOf = (listeners: readonly ListenerStatus[]): string =>
  `${listeners.map(fingerprint).toSorted()}`

/** The remaining connections of a draining listener are shown, but no event reports them. */
const fingerprint = (one: ListenerStatus): string =>
  one.state === 'draining' ? `${stateOf(one)} ${one.connections}` : stateOf(one)

/** Returns whether a node changed its state after the read, by that node's clock. */
const isOlder = (read: readonly ListenerStatus[], known: readonly ListenerStatus[]): boolean =>
  known.some(({ node, since }) => {
    const same = read.filter((each) => each.node === node)
    return same.length > 0 && same.every((each) => Date.parse(each.since) < Date.parse(since))
  })

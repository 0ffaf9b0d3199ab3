import type { ListenerStatus } from '../../server/contract/listener.ts'
import { mergeParts } from '../merge-parts.ts'
import { stateOf } from './endpoint-rows.ts'

/**
 * What is known of listeners, after a later reading of some addresses: an event may have been lost on
 * the way, so what is in another state there is put right. A reading that was asked for before what is
 * known came about changes nothing; the same list again where nothing does.
 */
export function putRight(
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
  `${listeners.map(saidOf).toSorted()}`

/** How many a draining one has left is told beside its state, and no event tells it. */
const saidOf = (one: ListenerStatus): string =>
  one.state === 'draining' ? `${stateOf(one)} ${one.connections}` : stateOf(one)

/** Whether a node has since changed the state of what was read: each tells it by its own clock. */
const isOlder = (read: readonly ListenerStatus[], known: readonly ListenerStatus[]): boolean =>
  known.some(({ node, since }) => {
    const same = read.filter((each) => each.node === node)
    return same.length > 0 && same.every((each) => Date.parse(each.since) < Date.parse(since))
  })

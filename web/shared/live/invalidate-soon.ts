import type { Query, QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../../server/contract/event.ts'

/** Events that come within this many milliseconds cost one reading, not one each. */
const GATHER_MS = 100

/** What comes while a reading is under way waits for its answer, but no longer than this, in ms. */
const PATIENCE_MS = 5_000

/** Beyond this many names the whole is read anew: the request would not fit into a URL. */
const MOST_NAMES = 100

/**
 * Turns live events into readings: the first part of every query key is the type of the event
 * after which it is read anew, in part where the query can (`meta.readAgain`). A gap in the events has
 * all of them read anew, but those that stand still (`meta.standsStill`). `note` takes an event,
 * `stop` forgets those not yet acted upon.
 */
export function invalidateSoon(queryClient: QueryClient) {
  let names = new Map<LiveEvent['type'], Set<string>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  const collect = (type: LiveEvent['type'], name?: string) => {
    const known = names.get(type) ?? new Set()
    if (name !== undefined) known.add(name)
    names.set(type, known)
  }

  const flush = async () => {
    const gathered = names
    names = new Map()
    const reading = gathered.has('reset')
      ? queryClient.invalidateQueries({ predicate: movesByItself })
      : Promise.all([...gathered].map(([type, some]) => readAnew(queryClient, type, [...some])))
    // An earlier answer must not come after a later one.
    await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))])
    timer = undefined
    if (names.size > 0 && !stopped) timer = setTimeout(flush, GATHER_MS)
  }

  return {
    note: (event: LiveEvent) => {
      const name = 'endpoint' in event ? event.endpoint : 'name' in event ? event.name : undefined
      collect(event.type, name)
      // The listeners carry the revision of their endpoint.
      if (event.type === 'endpoint') collect('listener', name)
      timer ??= setTimeout(flush, GATHER_MS)
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}

async function readAnew(queryClient: QueryClient, type: string, names: readonly string[]) {
  const queries = queryClient.getQueryCache().findAll({ queryKey: [type] })
  await Promise.all(
    queries.map(async (query) => {
      const readAgain = query.meta?.readAgain
      const parts = readAgain !== undefined && canTakeParts(query) && names.length <= MOST_NAMES
      const done = parts && (await readAgain(queryClient, names).then(yes, no))
      if (!done) await queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true })
    }),
  )
}

/** A list that stands still is read where there is none yet, and otherwise by whoever looks at it. */
const movesByItself = ({ meta, state }: Query) =>
  meta?.standsStill !== true || state.data === undefined

/** Whether it is looked at, and no reading of the whole is under way, which may be older. */
const canTakeParts = (query: Query) => query.isActive() && query.state.fetchStatus === 'idle'

const yes = () => true
const no = () => false

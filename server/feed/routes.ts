import { type Context, Hono } from 'hono'
import { PersonLimit } from '../concurrency/person-limit.ts'
import { includesDatabase } from '../contract/database.ts'
import { COLLECTION_PARAMETER } from '../contract/document.ts'
import {
  CHANGES,
  type FeedView,
  feedInput,
  MAX_WAIT,
  parseRetain,
  printRetain,
} from '../contract/feed.ts'
import { singleValue } from '../contract/query/query-parameter.ts'
import { databaseNotFound, Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import { callerIdOf, callerOf, type RequireRole } from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf, requestHeader, requireNoConditions } from '../http/input/headers.ts'
import { MINIMAL, preferredWait, prefersMinimal } from '../http/input/prefer.ts'
import { createCollectionParam, requireNoParameters, searchParameters } from '../http/input/url.ts'
import { described } from '../http/openapi/describe.ts'
import type { Reserve } from '../http/output/response-memory.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { OnTargetRecord, Recorder } from '../storage/changes/recorder.ts'
import { changesOperations, feedOperations, listOperation } from './describe-components.ts'
import type { Feed, Feeds, StoredChange } from './feeds.ts'
import type { Follower, Followers } from './followers.ts'
import { parsePosition, positionOf, requireKept } from './position.ts'

/** A document as a follower sees it (`documents/query/document-view.ts`). */
export interface View {
  readonly hasFields: boolean
  readonly key: string
  matches(body: string): boolean | Promise<boolean>
  print(body: string): string | undefined
}

export interface FeedRoutesDeps {
  readonly feeds: Feeds
  readonly followers: Followers
  readonly parseView: (query: URLSearchParams) => View
  readonly requireRole: RequireRole
  readonly record: Recorder
  readonly reserve: Reserve
  readonly sendList: SendList
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
  /** Calls back when the access of callers may have changed; returns the unsubscribe. */
  readonly onAccess: (listener: () => void) => () => void
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/** Maximum size of the settings of a feed, bytes. */
const BODY = 16 * 1024

/** Maximum number of open streams and waiting requests of a node, and of a token or person. */
const FOLLOWERS = { node: 2_000, caller: 100 } as const

/** Period of the comments in a quiet stream, ms. The caller is authorized again with each. */
const HEARTBEAT = 15_000

/** How old the authorization of the caller may be when changes are sent, ms. */
const AUTHORIZED_FOR = 1_000

/** Size from which on the changes that a stream sends at once end, characters. */
const CHUNK = 64 * 1024

/** Size of what a response reserves before its changes are read, bytes. */
const PAGE_BYTES = 3 * 1024 * 1024

/** Returns the routes of `/_feed/<collection>`, the changes of a collection, in every database. */
export function feedRoutes(deps: FeedRoutesDeps) {
  const { feeds, followers, parseView, requireRole, record, reserve, sendList, idOf, onAccess } =
    deps
  const limit = new PersonLimit(FOLLOWERS.node, FOLLOWERS.caller)
  const collectionOf = createCollectionParam(idOf)
  const targetOf = (c: Context<AppEnv>) => `${c.get('database')}/${c.req.param('collection')}`
  const recordOf = (c: Context<AppEnv>): OnTargetRecord => ({
    record,
    actor: callerOf(c),
    target: targetOf(c),
  })
  const requireFeed = (found: Feed | undefined, c: Context<AppEnv>): Feed => {
    if (found !== undefined) return found
    const name = c.req.param('collection')
    throw new Failure(
      'not-found',
      `${name} has no feed. An editor turns it on with PUT /_feed/${name}.`,
    )
  }
  const find = async (c: Context<AppEnv>) => requireFeed(await feeds.find(collectionOf(c)), c)
  const viewOf = (feed: Feed): FeedView => ({
    collection: feed.collection,
    retain: printRetain(feed.retain),
    first: positionOf(feed, feed.first),
    last: positionOf(feed, feed.last),
    changes: feed.last - feed.first,
    bytes: feed.bytes,
    followers: followers.count(feed),
  })

  /** Checks that the caller may still read the feed, and that it is still the same. */
  async function requireAccess(c: Context<AppEnv>, feed: Feed): Promise<void> {
    await c.get('authorizeAgain')?.(c)
    const { names } = c.env.listener.mapping
    if (!includesDatabase(names, c.get('database')) || idOf(c.get('database')) !== feed.database) {
      throw databaseNotFound()
    }
  }

  /** Counts a follower; returns a function that ends it. @throws Failure `too-many-requests` */
  function enter(c: Context<AppEnv>): () => void {
    const caller = callerIdOf(c)
    const reached = limit.enter(caller)
    let isCounted = reached === undefined
    if (isCounted) {
      return () => {
        if (isCounted) limit.leave(caller)
        isCounted = false
      }
    }
    throw new Failure(
      'too-many-requests',
      reached === 'person'
        ? `You follow ${FOLLOWERS.caller} feeds on this node, the maximum.`
        : `This node has ${FOLLOWERS.node} followers, the maximum.`,
      { headers: { 'Retry-After': '60' } },
    )
  }

  /** Returns changes after a number without a gap. @throws Failure `gone` */
  async function readAfter(follower: Pick<Follower, 'read'>, feed: Feed, after: number) {
    const changes = await follower.read(after)
    const [first] = changes
    if (first !== undefined && first.number !== after + 1) {
      requireKept({ ...feed, first: first.number - 1 }, after)
    }
    return changes
  }

  /** Waits until there are changes after a number, for the time that the request prefers. */
  async function waitForChanges(c: Context<AppEnv>, feed: Feed, after: number, seconds: number) {
    const leave = enter(c)
    const bell = createBell()
    const follower = followers.follow(feed, bell.ring)
    const ends = [c.req.raw.signal, c.env.listener.draining]
    for (const signal of ends) signal.addEventListener('abort', bell.ring)
    try {
      const until = performance.now() + seconds * 1_000
      follower.look()
      for (;;) {
        const changes = await readAfter(follower, feed, after)
        const left = until - performance.now()
        if (changes.length > 0 || left <= 0 || ends.some(({ aborted }) => aborted)) return changes
        if (follower.hasEnded) requireFeed(undefined, c)
        await bell.wait(left)
      }
    } finally {
      follower.end()
      for (const signal of ends) signal.removeEventListener('abort', bell.ring)
      leave()
    }
  }

  /** Yields the events of a stream until the feed, the access of the caller or the client ends. */
  async function* follow(c: Context<AppEnv>, feed: Feed, from: number, request: ChangesRequest) {
    const bell = createBell()
    const follower = followers.follow(feed, bell.ring)
    let authorizedUntil = 0
    const unsubscribe = onAccess(() => {
      authorizedUntil = 0
      bell.ring()
    })
    const ends = [c.req.raw.signal, c.env.listener.draining]
    for (const signal of ends) signal.addEventListener('abort', bell.ring)
    try {
      let at = from
      yield encode(`retry: 1000\nid: ${positionOf(feed, at)}\n\n`)
      follower.look()
      while (!ends.some(({ aborted }) => aborted) && !follower.hasEnded) {
        if (performance.now() > authorizedUntil) {
          await requireAccess(c, feed)
          authorizedUntil = performance.now() + AUTHORIZED_FOR
        }
        const changes = upTo(CHUNK, await readAfter(follower, feed, at))
        const last = changes.at(-1)
        if (last !== undefined) {
          yield await follower.share(changes, request.key, () =>
            printEvents(feed, changes, request).then(encode),
          )
          at = last.number
        } else if (!(await bell.wait(HEARTBEAT))) {
          yield HEARTBEAT_COMMENT
          authorizedUntil = 0
          follower.look()
        }
      }
    } catch (error) {
      // The client connects again, and gets the status.
      if (!(error instanceof Failure)) throw error
    } finally {
      follower.end()
      for (const signal of ends) signal.removeEventListener('abort', bell.ring)
      unsubscribe()
    }
  }

  return new Hono<AppEnv>()
    .get('/', described(listOperation, requireRole('viewer')), async (c) => {
      requireNoParameters(c, 'A request for feeds')
      c.header('Cache-Control', NO_STORE['Cache-Control'])
      return sendList(c, (await feeds.list(idOf(c.get('database')))).values().map(viewOf))
    })
    .get(PATH, described(feedOperations.get, requireRole('viewer')), async (c) => {
      requireNoParameters(c, 'A request for a feed')
      return c.json(viewOf(await find(c)), 200, NO_STORE)
    })
    .put(
      PATH,
      audited('feed.set', targetOf),
      described(feedOperations.put, requireRole('editor')),
      jsonBody(feedInput, BODY),
      async (c) => {
        requireNoParameters(c, 'A request for a feed')
        requireNoConditions(conditionsOf(c), 'feeds')
        const retain = parseRetain(c.req.valid('json').retain)
        const { created, feed } = await feeds.put(collectionOf(c), retain, recordOf(c))
        return c.json(viewOf(feed), created ? 201 : 200, NO_STORE)
      },
    )
    .delete(
      PATH,
      audited('feed.remove', targetOf),
      described(feedOperations.delete, requireRole('editor')),
      async (c) => {
        requireNoParameters(c, 'A request for a feed')
        requireNoConditions(conditionsOf(c), 'feeds')
        const feed = requireFeed(await feeds.remove(collectionOf(c), recordOf(c)), c)
        followers.look(feed)
        return prefersMinimal(c) ? c.body(null, 204, MINIMAL) : c.json(viewOf(feed), 200, NO_STORE)
      },
    )
    .get(`${PATH}/changes`, described(changesOperations.get, requireRole('viewer')), async (c) => {
      const isStream = requestHeader(c, 'accept')?.includes('text/event-stream') === true
      const request = parseRequest(searchParameters(c), parseView)
      const feed = await find(c)
      const resumed = isStream ? requestHeader(c, 'last-event-id') : undefined
      const position = resumed ?? request.after
      const after = position === undefined ? feed.first : parsePosition(feed, position)
      if (isStream) {
        const headers = {
          ...NO_STORE,
          'Content-Type': 'text/event-stream',
          'X-Accel-Buffering': 'no',
        }
        if (c.req.method === 'HEAD') return c.body(null, 200, headers)
        const leave = enter(c)
        const events = follow(c, feed, after, request)
        return new Response(streamOf(events, leave), { headers })
      }
      await reserve(c, PAGE_BYTES)
      const wait = preferredWait(c, MAX_WAIT)
      const headers = { ...NO_STORE, ...(wait && { 'Preference-Applied': `wait=${wait}` }) }
      const read = { read: (from: number) => feeds.read(feed, from, request.limit) }
      let changes = feed.last > after ? await readAfter(read, feed, after) : []
      if (changes.length === 0 && wait !== undefined && c.req.method !== 'HEAD') {
        changes = (await waitForChanges(c, feed, after, wait)).slice(0, request.limit)
        await requireAccess(c, feed)
      }
      const printed: string[] = []
      for (const change of changes) printed.push(await print(feed, change, request))
      return c.body(`[${printed.join()}]`, 200, { ...headers, 'Content-Type': 'application/json' })
    })
}

const NO_STORE = { 'Cache-Control': 'no-store' } as const

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)
const HEARTBEAT_COMMENT = encode(':\n\n')

/** Returns the body of a stream. `leave` is called at its end, once or more. */
function streamOf(events: AsyncGenerator<Uint8Array<ArrayBuffer>>, leave: () => void) {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { value, done } = await events.next().catch((error: unknown) => {
          leave()
          throw error
        })
        if (!done) return controller.enqueue(value)
        leave()
        controller.close()
      },
      async cancel() {
        leave()
        await events.return(undefined)
      },
    },
    // The next changes are read when the client has taken those before.
    { highWaterMark: 0 },
  )
}

/** Returns changes up to a size, at least one. */
function upTo(size: number, changes: readonly StoredChange[]): readonly StoredChange[] {
  let sum = 0
  const end = changes.findIndex(({ body }, at) => {
    sum += 256 + (body?.length ?? 0)
    return sum > size && at > 0
  })
  return end === -1 ? changes : changes.slice(0, end)
}

/** A request for changes, as its URL states it. */
interface ChangesRequest {
  readonly after: string | undefined
  readonly limit: number
  readonly includes: boolean
  readonly view: View
  /** Identifies requests that get the same changes in the same form. */
  readonly key: string
}

/** @throws Failure `bad-parameter` */
function parseRequest(
  parameters: URLSearchParams,
  parseView: FeedRoutesDeps['parseView'],
): ChangesRequest {
  const [after, limitText, include] = (['after', 'limit', 'include'] as const).map((name) => {
    const value = singleValue(name, parameters.getAll(name))
    parameters.delete(name)
    return value
  })
  const limit = Number(limitText ?? CHANGES.default)
  if (!/^[0-9]{0,4}$/.test(limitText ?? '') || !(limit >= 1 && limit <= CHANGES.max)) {
    throw new Failure('bad-parameter', `limit must be a whole number from 1 to ${CHANGES.max}.`, {
      field: 'limit',
    })
  }
  if (include !== undefined && include !== 'document') {
    throw new Failure('bad-parameter', 'include must be document, or omitted.', {
      field: 'include',
    })
  }
  const view = parseView(parameters)
  const includes = include !== undefined || view.hasFields
  return { after, limit, includes, view, key: `${includes} ${view.key}` }
}

/** Returns a change as JSON. */
export async function print(
  feed: Feed,
  change: StoredChange,
  { includes, view }: Pick<ChangesRequest, 'includes' | 'view'>,
): Promise<string> {
  const { number, id, tag, at, body } = change
  const document = body !== null && (await view.matches(body)) ? view.print(body) : undefined
  const head = JSON.stringify({
    position: positionOf(feed, number),
    id,
    change: document === undefined ? 'deleted' : change.change,
    etag: `"${tag}"`,
    at: new Date(at).toISOString(),
  })
  return includes && document !== undefined ? `${head.slice(0, -1)},"document":${document}}` : head
}

async function printEvents(feed: Feed, changes: readonly StoredChange[], request: ChangesRequest) {
  let text = ''
  for (const change of changes) {
    const data = await print(feed, change, request)
    text += `id: ${positionOf(feed, change.number)}\ndata: ${data}\n\n`
  }
  return text
}

/** Something to wait for. A ring before the wait ends it at once. */
function createBell() {
  let hasRung = false
  let wake: (rung: boolean) => void = () => {}
  return {
    ring() {
      hasRung = true
      wake(true)
    },
    /** Waits for a ring; returns false after `ms` without one. */
    async wait(ms: number): Promise<boolean> {
      const rung = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(resolve, ms, false)
        timer.unref()
        wake = (ended) => {
          clearTimeout(timer)
          resolve(ended)
        }
        if (hasRung) wake(true)
      })
      hasRung = false
      return rung
    },
  }
}

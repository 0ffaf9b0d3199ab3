import { atLeast, type Principal } from '../contract/access/principal.ts'
import { inScope } from '../contract/access/scope.ts'
import {
  type RequestEntry,
  type RequestFilter,
  STREAMED_PER_SECOND,
} from '../contract/endpoints/request.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import type { StreamPart } from '../events/stream-part.ts'
import { Rings } from './rings.ts'

/** What is known of a request when it has ended. */
export interface EndedRequest
  extends Pick<
    RequestEntry,
    | 'endpoint'
    | 'client'
    | 'method'
    | 'path'
    | 'status'
    | 'ms'
    | 'bytes'
    | 'caller'
    | 'token'
    | 'database'
    | 'rejected'
  > {
  /** Undefined: the caller was not authenticated. */
  readonly personId: string | undefined
}

/** A request as it is kept. */
export interface RecordedRequest extends EndedRequest {
  readonly id: number
  /** Ms since 1970. */
  readonly time: number
}

/** How long a stream collects requests before it sends them, ms. */
const BATCH_DELAY = 200

export interface RequestRecorder {
  /** Whether requests that are not rejected are recorded, of any endpoint. */
  readonly isFollowed: boolean
  /** Whether requests of an endpoint that are not rejected are recorded. */
  follows(endpoint: string): boolean
  record(request: EndedRequest): void
  /** Returns the recorded requests as a reader may see them, newest first. */
  list(filter: RequestFilter, reader: Principal): RequestEntry[]
  /**
   * Follows requests while they end: those that were recorded before, then new ones, as the reader
   * may see them.
   */
  watch(filter: RequestFilter, reader: Principal): StreamPart
}

export interface RequestRecorderDeps {
  /** The name of this node. */
  readonly node: string
  /** Writes a line of the access log; undefined: there is none. */
  readonly writeLine?: ((entry: RequestEntry) => void) | undefined
  readonly rings?: Rings<RecordedRequest>
  /** A monotonic clock, ms. */
  readonly steady?: () => number
}

/**
 * Creates the recorder of requests. Rejected ones are always recorded; others while a reader watches
 * their endpoint or an access log is written.
 */
export function createRequestRecorder({
  node,
  writeLine,
  rings = new Rings(),
  steady = () => performance.now(),
}: RequestRecorderDeps): RequestRecorder {
  const watchers = new Map<(request: RecordedRequest) => void, RequestFilter>()
  let last = 0
  let isFollowed = writeLine !== undefined
  const updateFollowed = () => {
    isFollowed =
      writeLine !== undefined || watchers.values().some(({ isRejected }) => isRejected !== true)
  }
  const list = (filter: RequestFilter, reader: Principal) =>
    rings
      .newest(filter.limit, filter.endpoints, (each) => isSelected(each, filter, reader))
      .map((each) => viewOf(each, node, reader))

  return {
    get isFollowed() {
      return isFollowed
    },
    follows: (endpoint) =>
      writeLine !== undefined ||
      watchers
        .values()
        .some((each) => each.isRejected !== true && (each.endpoints?.has(endpoint) ?? true)),
    record(request) {
      const recorded = { ...request, id: ++last, time: Date.now() }
      rings.add(recorded)
      writeLine?.(entryOf(recorded, node))
      for (const offer of watchers.keys()) offer(recorded)
    },
    list,
    watch(filter, first) {
      let reader = first
      let isNew = true
      let batch: RecordedRequest[] = []
      let leftOut = 0
      let second = Number.NEGATIVE_INFINITY
      let inSecond = 0
      let timer: NodeJS.Timeout | undefined
      let wake = () => {}
      const offer = (request: RecordedRequest) => {
        if (!isSelected(request, filter, reader)) return
        const now = steady()
        if (now - second >= 1_000) {
          second = now
          inSecond = 0
        }
        // A reader that is slow to take a batch does not make it longer.
        if (inSecond < STREAMED_PER_SECOND && batch.length < STREAMED_PER_SECOND) {
          inSecond++
          batch.push(request)
        } else leftOut++
        timer ??= setTimeout(() => {
          timer = undefined
          wake()
        }, BATCH_DELAY).unref()
      }
      return {
        subscribe(listener) {
          wake = listener
          watchers.set(offer, filter)
          updateFollowed()
          return () => {
            clearTimeout(timer)
            watchers.delete(offer)
            updateFollowed()
          }
        },
        take(principal) {
          // The reader's role or databases may have changed.
          reader = principal
          const taken = batch.filter((each) => isSelected(each, filter, reader))
          const left = leftOut
          batch = []
          leftOut = 0
          if (isNew) {
            isNew = false
            return { type: 'requests', requests: list(filter, reader), leftOut: 0, isFirst: true }
          }
          if (taken.length + left === 0) return undefined
          const requests = taken.reverse().map((each) => viewOf(each, node, reader))
          return { type: 'requests', requests, leftOut: left, isFirst: false }
        },
      }
    },
  }
}

function isSelected(request: RecordedRequest, filter: RequestFilter, reader: Principal): boolean {
  const { endpoint, status, rejected, client, database } = request
  const { databases } = reader
  if (filter.endpoints?.has(endpoint) === false) return false
  if (filter.isRejected !== undefined && filter.isRejected !== (rejected !== null)) return false
  // Otherwise viewers could find out addresses.
  const isClient = filter.client === client && mayIdentify(request, reader)
  if (filter.client !== undefined && !isClient) return false
  if (filter.status !== undefined && !hasStatus(status, filter.status)) return false
  return databases === null || (database !== null && inScope(databases, database))
}

/** @param wanted a status, or a class such as `4xx`. */
const hasStatus = (status: number | null, wanted: string) =>
  status !== null && String(status).startsWith(wanted.replace('xx', ''))

/** Returns whether a reader may see who sent a request: viewers only their own. */
const mayIdentify = ({ personId }: RecordedRequest, reader: Principal) =>
  atLeast(reader.role, 'operator') || personId === reader.personId

/** Returns a request as a reader may see it. */
function viewOf(request: RecordedRequest, node: string, reader: Principal): RequestEntry {
  const entry = entryOf(request, node)
  if (mayIdentify(request, reader)) return entry
  return { ...entry, client: null, caller: null, token: null }
}

// Field by field: `...rest` would take as long as writing the line of the access log.
const entryOf = (request: RecordedRequest, node: string): RequestEntry => ({
  id: request.id,
  time: toIsoTime(request.time),
  node,
  endpoint: request.endpoint,
  client: request.client,
  method: request.method,
  path: request.path,
  status: request.status,
  ms: request.ms,
  bytes: request.bytes,
  caller: request.caller,
  token: request.token,
  database: request.database,
  rejected: request.rejected,
})

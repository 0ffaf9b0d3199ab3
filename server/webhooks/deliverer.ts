import { createBackgroundLoop } from '../concurrency/background-loop.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/store.ts'
import type { Deliveries } from './deliveries.ts'
import { gapOf, type StoredWebhook, type WebhookPosition, type Webhooks } from './webhooks.ts'

/** Maximum number of deliveries that a node has in progress, one for each webhook. */
const DELIVERIES = 10

/** How long changes are collected for a message, ms. */
const COLLECTING = 50

/** Delay before the first repeated attempt, and the longest, which each failure doubles up to, ms. */
const RETRY = { first: 5_000, longest: 3_600_000 } as const

/** How long a webhook fails before it pauses, ms. */
const GIVE_UP = 24 * 3_600_000

/** How long a webhook waits if an outcome could not be stored, such as on a full disk, ms. */
const AFTER_ERROR = 60_000

/** Status of a receiver that wants no further messages. */
const GONE = 410

/** Actor of changes that this component makes. */
const WEBHOOKS_ACTOR = { name: 'webhooks', by: 'system', address: null } as const

export interface DelivererDeps {
  readonly store: Pick<Store, 'onFeedChange'>
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  /** Returns whether this node is the one that delivers. */
  readonly holdsLock: () => Promise<boolean>
  readonly now: () => number
  readonly onDelivered: () => void
  readonly onError: (error: unknown) => void
}

/** Delivers the changes of all webhooks on one of the nodes, in the order of each collection. */
export function createDeliverer(deps: DelivererDeps) {
  const { store, webhooks, deliveries, holdsLock, now, onDelivered, onError } = deps
  const inProgress = new Map<string, Promise<void>>()
  const stopping = new AbortController()
  /** Whether this node delivers, and there is a webhook. Otherwise it ignores changes of feeds. */
  let isFollowing = false
  let collecting: NodeJS.Timeout | undefined
  const loop = createBackgroundLoop(run, onError)
  const unsubscribe = store.onFeedChange(() => {
    if (!isFollowing || collecting !== undefined) return
    collecting = setTimeout(() => {
      collecting = undefined
      loop.wake()
    }, COLLECTING)
    collecting.unref()
  })

  async function run(isStopped: () => boolean): Promise<void> {
    isFollowing = (await holdsLock()) && (await webhooks.hasActive())
    if (!isFollowing) return
    const busy = new Set(inProgress.keys())
    for (const [webhook, positions] of await webhooks.due()) {
      if (isStopped() || inProgress.size >= DELIVERIES) return
      if (inProgress.has(webhook.id)) continue
      if (busy.has(webhook.id)) {
        // Its delivery ended while this was read, so the position may be that of the sent message.
        loop.wake()
        continue
      }
      const delivery = deliver(webhook, positions).then(
        (isDone) => {
          inProgress.delete(webhook.id)
          if (isDone) loop.wake()
        },
        (error: unknown) => {
          // The receiver may have the message, and would get it again with each run.
          setTimeout(() => inProgress.delete(webhook.id), AFTER_ERROR).unref()
          if (!stopping.signal.aborted) onError(error)
        },
      )
      inProgress.set(webhook.id, delivery)
    }
  }

  /** Delivers the next message of a webhook. Returns whether there may be another one. */
  async function deliver(
    webhook: StoredWebhook,
    positions: readonly WebhookPosition[],
  ): Promise<boolean> {
    const position = nextOf(positions)
    const gap = gapOf(position)
    const message = gap === undefined ? await deliveries.next(webhook, position) : 'gap'
    if (message === undefined) return false
    if (message === 'gap') {
      await pause(webhook, explainGap(position.collection, gap))
      return true
    }
    let sent: Awaited<ReturnType<typeof deliveries.post>>
    try {
      sent = await deliveries.post(webhook, message, stopping.signal)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      await pause(webhook, error.message)
      return true
    }
    const { outcome } = sent
    const retryAfter =
      outcome.error === undefined ? undefined : retryDelay(webhook.attempts, sent.sent.headers)
    await deliveries.record(webhook, message, sent, retryAfter)
    onDelivered()
    const since = webhook.failing_since ?? now()
    if (outcome.status === GONE) {
      await pause(webhook, 'The receiver wants no further messages: it responded 410 Gone.')
    } else if (outcome.error !== undefined && now() - since >= GIVE_UP) {
      await pause(webhook, `All deliveries have failed for a day. The last error: ${outcome.error}`)
    }
    return true
  }

  async function pause({ name, revision }: StoredWebhook, reason: string): Promise<void> {
    try {
      await webhooks.pause({ name, actor: WEBHOOKS_ACTOR, match: [String(revision)] }, reason)
    } catch (error) {
      // It was changed or deleted meanwhile, and is looked at again.
      if (!(error instanceof Failure)) throw error
      if (error.code !== 'precondition-failed' && error.code !== 'not-found') throw error
    }
    onDelivered()
  }

  /** Returns the delay before the next attempt, ms. */
  function retryDelay(attempts: number, headers: Readonly<Record<string, string>>): number {
    const backoff = Math.min(RETRY.first * 2 ** Math.min(attempts, 20), RETRY.longest)
    const requested = parseRetryAfter(headers['retry-after'], now())
    return Math.min(Math.max(backoff, requested), GIVE_UP)
  }

  return {
    /** Looks for changes to deliver. Call it at startup and periodically. */
    wake: loop.wake,
    async [Symbol.asyncDispose]() {
      unsubscribe()
      clearTimeout(collecting)
      stopping.abort()
      await loop.stop()
      await Promise.all(inProgress.values())
    },
  }
}

/** Returns the collection to deliver next: one whose message failed, or the longest waiting. */
function nextOf(positions: readonly WebhookPosition[]): WebhookPosition {
  const [first, ...rest] = positions as [WebhookPosition, ...WebhookPosition[]]
  return rest.reduce((best, each) => (rankOf(each) < rankOf(best) ? each : best), first)
}

const rankOf = ({ pending, oldest }: WebhookPosition) => (pending === null ? (oldest ?? 0) : -1)

function explainGap(collection: string, gap: ReturnType<typeof gapOf>): string {
  if (gap === 'no feed') {
    return `${collection} has no feed any more. Turn it on with PUT /_feed/${collection}, then resume.`
  }
  const lost =
    typeof gap === 'number'
      ? `${gap.toLocaleString('en')} changes of ${collection} have expired before they were delivered.`
      : `Changes of ${collection} may be missing: its feed was turned off or restored, or they have expired.`
  return `${lost} Copy the collection again, then resume.`
}

/** Returns the time that a `Retry-After` requests (RFC 9110 §10.2.3), ms; 0 without one. */
function parseRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0
  const time = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(time) ? Math.max(0, time) : 0
}

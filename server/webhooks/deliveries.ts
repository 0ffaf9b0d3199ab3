import { hash, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { toIsoTime } from '../contract/iso-time.ts'
import {
  WEBHOOK_DELIVERIES,
  type WebhookDelivery,
  type WebhookOutcome,
  webhookOutcome,
  webhookRequest,
} from '../contract/webhook.ts'
import type { DocumentView } from '../documents/query/document-view.ts'
import { Failure } from '../failure.ts'
import type { Feed, StoredChange } from '../feed/feeds.ts'
import { parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { WebhookDeliveriesTable } from '../storage/tables.ts'
import type { Send, Sent } from './send.ts'
import type { StoredWebhook, WebhookPosition, Webhooks } from './webhooks.ts'

/** Maximum size of the body of a message, bytes. */
const BODY_BYTES = 256 * 1024

/** Maximum size of the part of a body that is kept for people, characters. */
const EXCERPT = 8 * 1024

/** A message to a receiver. A repeated one has the same id and body. */
export interface Message {
  readonly id: string
  /** When it was first sent, ms since 1970. */
  readonly at: number
  /** Null for a test. */
  readonly collection: string | null
  readonly epoch: string
  /** Its changes are those after this number … */
  readonly after: number
  /** … up to this one. */
  readonly upTo: number
  readonly body: string
}

/** Reads feeds (`server/feed`). */
export interface ReadFeeds {
  find(where: { readonly database: string; readonly collection: string }): Promise<Feed | undefined>
  read(feed: Feed, after: number): Promise<readonly StoredChange[]>
}

export interface DeliveriesDeps {
  readonly store: Pick<Store, 'db' | 'transaction'>
  readonly webhooks: Pick<Webhooks, 'secretsOf'>
  readonly feeds: ReadFeeds
  readonly parseView: (query: URLSearchParams) => DocumentView
  readonly print: (
    feed: Feed,
    change: StoredChange,
    options: { readonly includes: boolean; readonly view: DocumentView },
  ) => Promise<string>
  readonly send: Send
  readonly now: () => number
}

export type Deliveries = ReturnType<typeof createDeliveries>

/** Creates, sends and records the messages of webhooks. */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, webhooks, feeds, parseView, print, send, now } = deps

  /**
   * Returns the message with the changes after a number, up to `upTo` at most; undefined if there
   * are none, and `gap` if some of them have expired.
   */
  async function compose(
    webhook: StoredWebhook,
    collection: string,
    { epoch, after, upTo, at }: Pick<Message, 'epoch' | 'after' | 'upTo' | 'at'>,
  ): Promise<Message | 'gap' | undefined> {
    const feed = await feeds.find({ database: webhook.database, collection })
    if (feed === undefined || feed.epoch !== epoch) return 'gap'
    const view = parseView(new URLSearchParams(webhook.filter))
    const data = { database: webhook.databaseName, collection }
    const head = `${JSON.stringify({ type: 'documents.changed', timestamp: toIsoTime(at), data }).slice(0, -2)},"changes":[`
    const printed: string[] = []
    let bytes = Buffer.byteLength(head)
    let last = after
    while (last < upTo) {
      const changes = await feeds.read(feed, last)
      if (changes.length === 0) break
      if (changes[0]?.number !== last + 1) return 'gap'
      for (const change of changes) {
        if (change.number > upTo) break
        const text = await printSmall(feed, change, view, BODY_BYTES - Buffer.byteLength(head) - 3)
        bytes += Buffer.byteLength(text) + 1
        if (bytes > BODY_BYTES - 3 && printed.length > 0) {
          return message(webhook, collection, { epoch, after, upTo: last, at }, head, printed)
        }
        printed.push(text)
        last = change.number
      }
      // The next part of a message that was sent before; a new one ends here.
      if (!Number.isFinite(upTo)) break
    }
    if (printed.length === 0) return undefined
    return message(webhook, collection, { epoch, after, upTo: last, at }, head, printed)
  }

  /** Returns a change as JSON, without its document if that is larger than a body may be. */
  async function printSmall(feed: Feed, change: StoredChange, view: DocumentView, max: number) {
    const text = await print(feed, change, { includes: true, view })
    return Buffer.byteLength(text) <= max ? text : print(feed, change, { includes: false, view })
  }

  /** Sends a message. @throws Failure `conflict` without a secret */
  async function post(webhook: StoredWebhook, message: Message, signal?: AbortSignal) {
    const at = new Date(now())
    const signatures = webhooks
      .secretsOf(webhook)
      .map((secret) => new Webhook(secret).sign(message.id, at, message.body))
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Gatehouse',
      'webhook-id': message.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    }
    const signed = {
      ...headers,
      'content-length': String(Buffer.byteLength(message.body)),
      'webhook-signature': signatures.join(' '),
    }
    const sent = await send(webhook.url, signed, message.body, signal)
    return { headers, sent, outcome: outcomeOf(sent, at) }
  }

  /** Stores an attempt, and the position after it if it is the next one of the webhook. */
  async function record(
    webhook: StoredWebhook,
    message: Message,
    { headers, outcome }: Awaited<ReturnType<typeof post>>,
    retryAfter: number | undefined,
  ): Promise<void> {
    const { at, status, error } = outcome
    const isDelivered = error === undefined
    const last_response = JSON.stringify({ status, at, ...(error && { error }) })
    await store.transaction(async (trx) => {
      const found = await trx
        .updateTable('webhooks')
        .set((eb) => ({
          last_response,
          ...(isDelivered && { failing_since: null, attempts: 0, retry_at: now() }),
          ...(retryAfter !== undefined && {
            failing_since: eb.fn.coalesce('failing_since', eb.val(Date.parse(at))),
            attempts: eb('attempts', '+', 1),
            retry_at: now() + retryAfter,
          }),
        }))
        .where('id', '=', webhook.id)
        .returning('id')
        .executeTakeFirst()
      if (found === undefined) return
      const { collection, epoch, after, upTo } = message
      if (collection !== null && (isDelivered || retryAfter !== undefined)) {
        await trx
          .updateTable('webhook_positions')
          .set(
            isDelivered
              ? { number: upTo, pending: null, pending_at: null }
              : { pending: upTo, pending_at: message.at },
          )
          .where('webhook', '=', webhook.id)
          .where('collection', '=', collection)
          .where('epoch', '=', epoch)
          .where('number', '=', after)
          .execute()
      }
      const row: WebhookDeliveriesTable = {
        id: message.id,
        webhook: webhook.id,
        at: message.at,
        collection,
        epoch,
        after,
        upto: upTo,
        attempts: 1,
        request: JSON.stringify({ headers, ...excerptOf(message.body) }),
        outcome: JSON.stringify(outcome),
      }
      await trx
        .insertInto('webhook_deliveries')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet((eb) => ({
            request: row.request,
            outcome: row.outcome,
            attempts: eb('webhook_deliveries.attempts', '+', 1),
          })),
        )
        .execute()
      const kept = trx
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhook', '=', webhook.id)
        .orderBy('at', 'desc')
        .orderBy('id')
        .limit(WEBHOOK_DELIVERIES)
      await trx
        .deleteFrom('webhook_deliveries')
        .where('webhook', '=', webhook.id)
        .where('id', 'not in', kept)
        .execute()
    })
  }

  const ofWebhook = ({ id }: StoredWebhook) =>
    store.db.selectFrom('webhook_deliveries').selectAll().where('webhook', '=', id)

  async function find(webhook: StoredWebhook, id: string): Promise<WebhookDeliveriesTable> {
    const row = await ofWebhook(webhook).where('id', '=', id).executeTakeFirst()
    if (row === undefined) throw new Failure('not-found', 'There is no such delivery.')
    return row
  }

  return {
    /** Returns the next message after a position, or the one that failed before. */
    next: (webhook: StoredWebhook, position: WebhookPosition) =>
      compose(webhook, position.collection, {
        epoch: position.epoch,
        after: position.number,
        upTo: position.pending ?? Number.POSITIVE_INFINITY,
        at: position.pending_at ?? now(),
      }),
    post,
    record,
    /** Returns the last deliveries, the newest first. */
    async list(webhook: StoredWebhook): Promise<WebhookDelivery[]> {
      const rows = await ofWebhook(webhook).orderBy('at', 'desc').orderBy('id').execute()
      return rows.map(toDelivery)
    },
    /**
     * Checks that a delivery can be sent again, without sending it.
     *
     * @throws Failure `not-found`
     */
    async require(webhook: StoredWebhook, id: string): Promise<void> {
      await find(webhook, id)
    },
    /** Sends a test and returns its delivery. */
    async test(webhook: StoredWebhook): Promise<WebhookDelivery> {
      const at = now()
      const { databaseName: database, name } = webhook
      const data = { database, webhook: name }
      const message: Message = {
        id: `msg_${randomBytes(16).toString('base64url')}`,
        at,
        collection: null,
        epoch: '',
        after: 0,
        upTo: 0,
        body: JSON.stringify({ type: 'webhook.test', timestamp: toIsoTime(at), data }),
      }
      await record(webhook, message, await post(webhook, message), undefined)
      return toDelivery(await find(webhook, message.id))
    },
    /**
     * Sends a delivery again, with the same id, and returns it.
     *
     * @throws Failure `not-found`; `gone` if its changes have expired
     */
    async again(webhook: StoredWebhook, id: string): Promise<WebhookDelivery> {
      const row = await find(webhook, id)
      if (row.collection === null) return this.test(webhook)
      const { epoch, after, upto: upTo, at } = row
      const message = await compose(webhook, row.collection, { epoch, after, upTo, at })
      if (message === 'gap' || message === undefined) {
        throw new Failure('gone', 'The changes of this delivery are no longer kept.')
      }
      const again = { ...message, id, upTo }
      await record(webhook, again, await post(webhook, again), undefined)
      return toDelivery(await find(webhook, id))
    },
  }
}

/** Returns a message whose id follows from its changes. */
function message(
  { id: webhook }: StoredWebhook,
  collection: string,
  range: Pick<Message, 'epoch' | 'after' | 'upTo' | 'at'>,
  head: string,
  changes: readonly string[],
): Message {
  const { epoch, after, upTo, at } = range
  const key = JSON.stringify([webhook, collection, epoch, after, upTo, at])
  const id = `msg_${hash('sha256', key, 'base64url').slice(0, 22)}`
  return { id, collection, ...range, body: `${head}${changes.join()}]}}` }
}

const excerptOf = (body: string) => ({
  body: body.slice(0, EXCERPT),
  bytes: Buffer.byteLength(body),
})

function outcomeOf(sent: Sent, at: Date): WebhookOutcome {
  const { status, headers, body, bytes, milliseconds } = sent
  const isDelivered = status !== null && status >= 200 && status < 300
  const error = sent.error ?? (isDelivered ? undefined : `The response was ${status}.`)
  return {
    at: at.toISOString(),
    milliseconds,
    status,
    response: status === null ? null : { headers, body: body.slice(0, EXCERPT), bytes },
    ...(error !== undefined && { error }),
  }
}

function toDelivery(row: WebhookDeliveriesTable): WebhookDelivery {
  const outcome = parseJsonColumn(webhookOutcome, 'webhook_deliveries.outcome', row.outcome)
  return {
    id: row.id,
    at: toIsoTime(row.at),
    collection: row.collection,
    changes: row.upto - row.after,
    attempts: row.attempts,
    delivered: outcome.error === undefined,
    request: parseJsonColumn(webhookRequest, 'webhook_deliveries.request', row.request),
    outcome,
  }
}

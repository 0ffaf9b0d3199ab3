import * as z from 'zod/mini'
import { isCollectionName } from './document.ts'

/** Maximum number of webhooks of a store. */
export const WEBHOOKS = 100

/** Maximum number of collections of a webhook. */
export const WEBHOOK_COLLECTIONS = 20

/** Number of deliveries of a webhook that are kept. */
export const WEBHOOK_DELIVERIES = 50

const name = z.string().check(
  z.regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    // The name is a part of paths.
    'must begin with a letter or digit, and have up to 64 letters, digits, “_” and “-”',
  ),
)

const url = z
  .string()
  .check(
    z.maxLength(2_048, 'at most 2,048 characters'),
    z.refine(isReceiver, 'must be a URL with http or https, without a user name and a fragment'),
    z.describe('where changes are sent, such as https://example.org/hook'),
  )

const collections = z
  .array(z.string().check(z.refine(isCollectionName, 'a collection name')))
  .check(
    z.minLength(1, 'at least one collection'),
    z.maxLength(WEBHOOK_COLLECTIONS, `at most ${WEBHOOK_COLLECTIONS} collections`),
    z.refine((names) => new Set(names).size === names.length, 'must not repeat a collection'),
  )

const filter = z
  .string()
  .check(
    z.maxLength(2_048, 'at most 2,048 characters'),
    z.describe('filters and `fields` as in the query of a listing, such as year:gte=2000'),
  )

function isReceiver(text: string): boolean {
  const parsed = URL.parse(text)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false
  return parsed.username === '' && parsed.password === '' && parsed.hash === ''
}

/** Body of `POST /_api/webhook`. */
export const webhookInput = z.strictObject({
  name,
  url,
  database: z.string(),
  collections,
  filter: z._default(filter, ''),
})

export type WebhookInput = z.output<typeof webhookInput>

/** Body of `PATCH /_api/webhook/<name>`: the fields to change. */
export const webhookChange = z.strictObject({
  url: z.optional(url),
  collections: z.optional(collections),
  filter: z.optional(filter),
})

export type WebhookChange = z.output<typeof webhookChange>

/** The last response of the receiver, or why there was none. */
export const lastResponse = z.object({
  status: z.nullable(z.int()),
  at: z.string().check(z.describe('ISO 8601, UTC')),
  error: z.optional(z.string()).check(z.describe('why the delivery failed')),
})

/** A webhook, as `GET /_api/webhook` returns it. */
export const webhookRecord = z.object({
  name: z.string(),
  url: z.string(),
  database: z.string(),
  collections: z.array(z.string()),
  filter: z.string(),
  state: z
    .enum(['active', 'failing', 'paused'])
    .check(z.describe('failing: the last attempt failed, and is repeated at `retryAt`')),
  reason: z.nullable(z.string()).check(z.describe('why it is paused')),
  behind: z
    .object({ changes: z.int(), oldest: z.nullable(z.string()) })
    .check(z.describe('number of changes that are not delivered, and time of the oldest')),
  lastResponse: z.nullable(lastResponse),
  retryAt: z.nullable(z.string()).check(z.describe('when the next attempt follows, if it fails')),
  previousSecretUntil: z
    .nullable(z.string())
    .check(z.describe('until when requests have a second signature, by the previous secret')),
  creator: z.string(),
  created: z.string(),
  revision: z.int(),
})

export type WebhookRecord = z.infer<typeof webhookRecord>

/** Response of `GET /_api/webhook`. */
export const webhookList = z.array(webhookRecord)

/** Response of `POST /_api/webhook` and `…/secret`. The secret is shown only here. */
export const webhookWithSecret = z.object({ secret: z.string(), webhook: webhookRecord })

/** Response of `POST /_api/webhook/<name>/resume`. */
export const resumedWebhook = z.object({
  webhook: webhookRecord,
  gaps: z
    .array(z.object({ collection: z.string(), changes: z.nullable(z.int()) }))
    .check(
      z.describe('collections whose changes have expired; their number is null if it is unknown'),
    ),
})

export type WebhookGap = z.infer<typeof resumedWebhook>['gaps'][number]

const message = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.string().check(z.describe('at most the first 8 KiB')),
  bytes: z.int().check(z.describe('size of the body; of a response, at most 64 KiB are read')),
})

/** What was sent. Without the signature, which would be valid for some minutes. */
export const webhookRequest = message

/** What became of it. */
export const webhookOutcome = z.object({
  at: z.string(),
  milliseconds: z.int(),
  status: z.nullable(z.int()),
  response: z.nullable(message),
  error: z.optional(z.string()),
})

export type WebhookOutcome = z.infer<typeof webhookOutcome>

/** A delivery, as `GET /_api/webhook/<name>/delivery` lists it. */
export const webhookDelivery = z.object({
  id: z.string().check(z.describe('the header `webhook-id`')),
  at: z.string().check(z.describe('when it was first sent')),
  collection: z.nullable(z.string()).check(z.describe('null for a test')),
  changes: z.int(),
  attempts: z.int(),
  delivered: z.boolean(),
  request: webhookRequest,
  outcome: webhookOutcome.check(z.describe('of the last attempt')),
})

export type WebhookDelivery = z.infer<typeof webhookDelivery>

/** Response of `GET /_api/webhook/<name>/delivery`, the newest first. */
export const webhookDeliveries = z.array(webhookDelivery)

import { type Context, Hono } from 'hono'
import { Semaphore } from '../concurrency/semaphore.ts'
import { inScope } from '../contract/access/scope.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import {
  resumedWebhook,
  webhookChange,
  webhookDeliveries,
  webhookDelivery,
  webhookInput,
  webhookList,
  webhookRecord,
  webhookWithSecret,
} from '../contract/webhook.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import {
  callerOf,
  principalOf,
  type RequireRole,
  requireScope,
} from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { Deliveries, DeliveriesDeps } from './deliveries.ts'
import { namesBlockedAddress } from './send.ts'
import type { StoredWebhook, WebhookEdit, Webhooks } from './webhooks.ts'

/** Maximum number of tests and repeated deliveries in progress on a node. */
const REQUESTED_DELIVERIES = 4

export interface WebhookRoutesDeps {
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly parseView: DeliveriesDeps['parseView']
  /** Returns whether requests may go to an IP address. */
  readonly isAllowed: (address: string) => boolean
  readonly requireRole: RequireRole
  readonly sendList: SendList
  /** Called after a change. */
  readonly onChange: () => void
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const MISSING = { 404: 'there is no such webhook' } as const
const CHANGED = { ...MISSING, 412: 'the webhook has another revision' } as const

/** `/_api/webhook`: what Gatehouse tells other servers (docs/http-api.md, "Webhooks"). */
export function webhookRoutes(deps: WebhookRoutesDeps) {
  const { webhooks, deliveries, parseView, isAllowed, sendList, onChange, idOf } = deps
  const requireEditor = deps.requireRole('editor', { ownScope: true })
  const requested = new Semaphore(REQUESTED_DELIVERIES, {
    waiting: 0,
    wait: 0,
    busy: () => new Failure('busy', 'Too many deliveries are in progress. Try again.'),
  })
  const target = (c: Context<AppEnv>) => c.req.param('name')

  /** Returns the webhook of the path, whose database the caller has. */
  async function find(c: Context<AppEnv, '/:name'>): Promise<StoredWebhook> {
    const stored = await webhooks.find(c.req.param('name'))
    requireScope(principalOf(c), stored.databaseName)
    return stored
  }
  /** Like {@link find}, for a change. */
  async function edit(c: Context<AppEnv, '/:name'>): Promise<WebhookEdit> {
    const { name } = await find(c)
    return { name, actor: callerOf(c), match: conditionsOf(c).match }
  }
  async function send(c: Context<AppEnv>, stored: StoredWebhook) {
    onChange()
    return c.json(await webhooks.view(stored), 200, etagOf(stored))
  }
  /** Sends something that the caller requests, once that is recorded. */
  async function deliver<T>(
    c: Context<AppEnv>,
    { name }: StoredWebhook,
    action: 'webhook.test' | 'webhook.retry',
    work: () => Promise<T>,
  ): Promise<T> {
    await requested.enter()
    try {
      await webhooks.recordRequest(name, action, callerOf(c))
      return await work()
    } finally {
      requested.leave()
      onChange()
    }
  }
  /** @throws Failure `bad-parameter` */
  function requireValid({
    url,
    filter,
  }: {
    url?: string | undefined
    filter?: string | undefined
  }) {
    if (filter !== undefined) {
      try {
        parseView(new URLSearchParams(filter))
      } catch (error) {
        throw error instanceof Failure ? error.with({ field: '/filter' }) : error
      }
    }
    if (url === undefined || !namesBlockedAddress(url, isAllowed)) return
    throw new Failure(
      'bad-parameter',
      'The address is not public. GATEHOUSE_WEBHOOK_ALLOW permits other networks.',
      { field: '/url' },
    )
  }

  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List the webhooks', responses: { 200: webhookList } }),
      requireEditor,
      async (c) => {
        const { databases } = principalOf(c)
        const all = await webhooks.list()
        return sendList(
          c,
          all.filter(({ database }) => inScope(databases, database)),
        )
      },
    )
    .post(
      '/',
      describe({
        summary: 'Create a webhook; only this response contains its secret',
        body: webhookInput,
        responses: { 201: webhookWithSecret },
        failures: {
          404: 'there is no such database',
          409: 'the name is taken, or a collection has no feed',
        },
      }),
      audited('webhook.create', (c) => c.req.valid('json')?.name),
      requireEditor,
      jsonBody(webhookInput),
      async (c) => {
        const input = c.req.valid('json')
        requireScope(principalOf(c), input.database)
        requireValid(input)
        const { secret, stored } = await webhooks.create(input, idOf(input.database), callerOf(c))
        onChange()
        return c.json({ secret, webhook: await webhooks.view(stored) }, 201, {
          ...etagOf(stored),
          Location: `/_api/webhook/${stored.name}`,
        })
      },
    )
    .get(
      '/:name',
      describe({
        summary: 'Read a webhook',
        responses: { 200: webhookRecord },
        failures: MISSING,
      }),
      requireEditor,
      async (c) => {
        const stored = await find(c)
        return c.json(await webhooks.view(stored), 200, etagOf(stored))
      },
    )
    .patch(
      '/:name',
      describe({
        summary: 'Change the URL, the collections or the filter of a webhook',
        conditions: ['If-Match'],
        body: webhookChange,
        responses: { 200: webhookRecord },
        failures: { ...CHANGED, 409: 'a collection has no feed' },
      }),
      audited('webhook.change', target),
      requireEditor,
      jsonBody(webhookChange),
      async (c) => {
        const change = c.req.valid('json')
        requireValid(change)
        return send(c, await webhooks.change(change, await edit(c)))
      },
    )
    .delete(
      '/:name',
      describe({
        summary: 'Delete a webhook and its deliveries',
        conditions: ['If-Match'],
        responses: { 200: acknowledgement },
        failures: CHANGED,
      }),
      audited('webhook.delete', target),
      requireEditor,
      async (c) => {
        await webhooks.remove(await edit(c))
        onChange()
        return c.json(acknowledge(), 200)
      },
    )
    .post(
      '/:name/test',
      describe({
        summary: 'Send a test and return the response of the receiver',
        responses: { 200: webhookDelivery },
        failures: { ...MISSING, 409: 'the secret was discarded' },
      }),
      audited('webhook.test', target),
      requireEditor,
      async (c) => {
        const stored = await find(c)
        return c.json(await deliver(c, stored, 'webhook.test', () => deliveries.test(stored)), 200)
      },
    )
    .post(
      '/:name/pause',
      describe({
        summary: 'Stop the deliveries of a webhook',
        conditions: ['If-Match'],
        responses: { 200: webhookRecord },
        failures: CHANGED,
      }),
      audited('webhook.pause', target),
      requireEditor,
      async (c) => {
        const by = await edit(c)
        return send(c, await webhooks.pause(by, `Paused by ${by.actor.name}.`))
      },
    )
    .post(
      '/:name/resume',
      describe({
        summary: 'Continue the deliveries of a webhook now, and report changes that have expired',
        conditions: ['If-Match'],
        responses: { 200: resumedWebhook },
        failures: { ...CHANGED, 409: 'a collection has no feed, or the secret was discarded' },
      }),
      audited('webhook.resume', target),
      requireEditor,
      async (c) => {
        const { stored, gaps } = await webhooks.resume(await edit(c))
        onChange()
        return c.json({ webhook: await webhooks.view(stored), gaps }, 200, etagOf(stored))
      },
    )
    .post(
      '/:name/secret',
      describe({
        summary: 'Replace the secret; the previous one also signs for 24 hours',
        conditions: ['If-Match'],
        responses: { 200: webhookWithSecret },
        failures: CHANGED,
      }),
      audited('webhook.secret', target),
      requireEditor,
      async (c) => {
        const { stored, secret } = await webhooks.renewSecret(await edit(c))
        onChange()
        return c.json({ secret, webhook: await webhooks.view(stored) }, 200, etagOf(stored))
      },
    )
    .get(
      '/:name/delivery',
      describe({
        summary: 'List the last 50 deliveries with their requests and responses, newest first',
        responses: { 200: webhookDeliveries },
        failures: MISSING,
      }),
      requireEditor,
      async (c) => sendList(c, await deliveries.list(await find(c))),
    )
    .post(
      '/:name/delivery/:id/retry',
      describe({
        summary: 'Send a delivery again, with the same id',
        responses: { 200: webhookDelivery },
        failures: {
          404: 'there is no such webhook or delivery',
          409: 'the secret was discarded',
          410: 'its changes are no longer kept',
        },
      }),
      audited('webhook.retry', target),
      requireEditor,
      async (c) => {
        const stored = await find(c)
        const id = c.req.param('id')
        await deliveries.require(stored, id)
        return c.json(
          await deliver(c, stored, 'webhook.retry', () => deliveries.again(stored, id)),
          200,
        )
      },
    )
}

const etagOf = ({ revision }: StoredWebhook) => ({ ETag: `"${revision}"` })

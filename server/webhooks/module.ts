import type { EventHub } from '../events/hub.ts'
import type { FeedModule } from '../feed/module.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { StoreUnavailable } from '../storage/availability/unavailable.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Store } from '../storage/store.ts'
import type { Vault } from '../storage/vault.ts'
import { createDeliverer } from './deliverer.ts'
import { createDeliveries, type DeliveriesDeps } from './deliveries.ts'
import { webhookRoutes } from './routes.ts'
import { createAddressCheck, createSend } from './send.ts'
import { createWebhooks } from './webhooks.ts'

/** Minimum time between two events about deliveries, ms. */
const EVENT_INTERVAL = 1_000

export interface WebhooksModuleDeps {
  readonly store: Store
  readonly record: Recorder
  readonly vault: Vault
  readonly feed: Pick<FeedModule, 'feeds' | 'print'>
  readonly parseView: DeliveriesDeps['parseView']
  /** Addresses and CIDR ranges that are not public, to which requests may go. */
  readonly allow: readonly string[]
  readonly events: Pick<EventHub, 'publish'>
  readonly http: Pick<HttpModule, 'sendList'>
  readonly requireRole: RequireRole
  readonly logError: ErrorLog
  /** Returns the time, ms since 1970. */
  readonly now: () => number
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/** Creates the webhooks, with their routes and the loop that delivers the changes of feeds. */
export function createWebhooksModule(deps: WebhooksModuleDeps) {
  const { store, record, vault, feed, parseView, events, http, requireRole, logError, now } = deps
  const isAllowed = createAddressCheck(deps.allow)
  const webhooks = createWebhooks({ store, record, vault, now })
  const deliveries = createDeliveries({
    ...{ store, webhooks, parseView, now },
    feeds: feed.feeds,
    print: feed.print,
    send: createSend(isAllowed),
  })
  const publish = () => events.publish({ type: 'webhook' })
  let publishing: NodeJS.Timeout | undefined
  const publishSoon = () => {
    publishing ??= setTimeout(() => {
      publishing = undefined
      publish()
    }, EVENT_INTERVAL).unref()
  }
  const onError = logError('a webhook could not be delivered')
  const deliverer = createDeliverer({
    ...{ store, webhooks, deliveries, now, onError },
    onDelivered: publishSoon,
    // Held until the process exits; another node then acquires it.
    holdsLock: () =>
      store.acquireLock('webhooks').catch((error: unknown) => {
        if (error instanceof StoreUnavailable) return false
        throw error
      }),
  })
  let states: string | undefined
  /** Publishes an event if a webhook has changed on this node or another. */
  async function notify(): Promise<void> {
    const now = await webhooks.states()
    if (states !== undefined && now !== states) publish()
    states = now
  }
  function onChange(): void {
    notify().catch(logError('the states of webhooks could not be read'))
    deliverer.wake()
  }
  return {
    routes: webhookRoutes({
      ...{ webhooks, deliveries, parseView, isAllowed, requireRole, onChange },
      sendList: http.sendList,
      idOf: deps.idOf,
    }),
    /** Looks for changes to deliver. Call it at startup and periodically. */
    wake: deliverer.wake,
    /** Delivers and publishes events, after a change by another node. */
    onChange,
    async [Symbol.asyncDispose]() {
      clearTimeout(publishing)
      await deliverer[Symbol.asyncDispose]()
    },
  }
}

export type WebhooksModule = ReturnType<typeof createWebhooksModule>

import { statfs } from 'node:fs/promises'
import type { CertificatesModule } from '../certificates/module.ts'
import { atLeast, type Principal } from '../contract/access/principal.ts'
import { administrationScope, createEndpointView, inScope } from '../contract/access/scope.ts'
import { expiryOf } from '../contract/certificate-expiry.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import type { EndpointRecord } from '../contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import { leadOf, stateOf } from '../contract/endpoints/listener-state.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { ATTENTION_ENTRIES, type AttentionItem } from '../contract/overview.ts'
import { lastResponse } from '../contract/webhook.ts'
import { parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'

/** From when on a token expires soon, ms. */
const TOKEN_DUE = 7 * 86_400_000

/** A disk is nearly full if less than a tenth of it is free, and less than this, bytes. */
const LITTLE_SPACE = 2 * 1024 ** 3

/** Number of endpoints that the entry of a missing database names. */
const NAMED_ENDPOINTS = 3

export interface AttentionDeps {
  readonly store: Pick<Store, 'db' | 'engine'>
  readonly now: () => number
  /** The folder of a SQLite store. */
  readonly data: string
  /** Returns all endpoints, sorted by address. */
  readonly endpoints: () => readonly EndpointRecord[]
  /** Returns the listeners of all nodes. */
  readonly listeners: () => readonly ListenerStatus[]
  readonly databaseExists: (name: string) => boolean
  readonly certificates: Pick<CertificatesModule, 'list'>
}

/** Finds entries of some kinds that a reader may see. */
type Check = (reader: Principal) => AttentionItem[] | Promise<AttentionItem[]>

/** Returns a function that finds what needs a person, as far as a reader may see it. */
export function createAttention(deps: AttentionDeps) {
  const { store, now } = deps
  const { db } = store

  const failedEndpoints: Check = ({ databases }) => {
    const view = createEndpointView(databases)
    const shown = new Set(
      deps.endpoints().flatMap((each) => (view.shows(each.databases) ? [each.endpoint] : [])),
    )
    return [...Map.groupBy(deps.listeners(), ({ endpoint }) => endpoint)].flatMap(
      ([target, listeners]) => {
        const lead = shown.has(target) ? leadOf(listeners) : undefined
        if (lead === undefined || stateOf(lead) !== 'failed') return []
        const since = lead.failingSince ?? lead.since
        return { kind: 'endpoint-failed', target, since, detail: lead.error } as const
      },
    )
  }

  const missingDatabases: Check = ({ databases }) => {
    const view = createEndpointView(databases)
    const missing = new Map<string, string[]>()
    for (const { endpoint, databases: mapped } of deps.endpoints()) {
      for (const name of view.namesOf(mapped)) {
        if (name === SYSTEM_DATABASE || deps.databaseExists(name)) continue
        const using = missing.get(name)
        if (using === undefined) missing.set(name, [endpoint])
        else using.push(endpoint)
      }
    }
    return [...missing].map(([target, using]) => {
      const more = using.length - NAMED_ENDPOINTS
      const named = using.slice(0, NAMED_ENDPOINTS).join(', ')
      const detail = `Mapped by ${named}${more > 0 ? ` and ${more} more` : ''}`
      return { kind: 'database-missing', target, since: null, detail } as const
    })
  }

  const waitingPeople: Check = async ({ role, databases }) => {
    if (role !== 'admin' || administrationScope(databases) !== null) return []
    const people = await db
      .selectFrom('people')
      .select(['username', 'name', 'created_at'])
      .where('role', '=', 'pending')
      .orderBy('created_at')
      .limit(ATTENTION_ENTRIES)
      .execute()
    return people.map(({ username, name, created_at }) => ({
      kind: 'person-waiting',
      target: username,
      since: toIsoTime(created_at),
      detail: name,
    }))
  }

  const dueCertificates: Check = async ({ role, databases }) => {
    if (!atLeast(role, 'operator') || administrationScope(databases) !== null) return []
    return (await deps.certificates.list()).flatMap(({ name, current, error, order }) => {
      const reason = error?.message ?? (order?.state === 'failed' ? order.reason : undefined)
      if (reason !== undefined) {
        const since = error?.at ?? null
        return { kind: 'certificate-failed', target: name, since, detail: reason } as const
      }
      if (current === null || expiryOf(current, now()) === 'valid') return []
      const { notAfter: since, names } = current
      const detail = names.slice(0, NAMED_ENDPOINTS).join(', ')
      return { kind: 'certificate-expires', target: name, since, detail } as const
    })
  }

  const dueTokens: Check = async ({ role, databases, personId }) => {
    const isAdmin = role === 'admin' && administrationScope(databases) === null
    const tokens = await db
      .selectFrom('tokens')
      .innerJoin('people', 'people.id', 'tokens.owner_id')
      .select(['username', 'tokens.name', 'expires_at'])
      .where('expires_at', '>', now())
      .where('expires_at', '<', now() + TOKEN_DUE)
      .$if(!isAdmin, (query) => query.where('owner_id', '=', personId))
      .orderBy('expires_at')
      .limit(ATTENTION_ENTRIES)
      .execute()
    return tokens.map(({ username, name, expires_at }) => ({
      kind: 'token-expires',
      target: `${username}/${name}`,
      since: toIsoTime(expires_at),
      detail: null,
    }))
  }

  const stoppedWebhooks: Check = async ({ role, databases }) => {
    if (!atLeast(role, 'editor')) return []
    const webhooks = await db
      .selectFrom('webhooks')
      .leftJoin('databases', 'databases.id', 'webhooks.database')
      .select(['webhooks.name', 'paused', 'reason', 'failing_since', 'last_response'])
      .select((eb) => eb.fn.coalesce('databases.name', eb.val(SYSTEM_DATABASE)).as('database'))
      .where((eb) => eb.or([eb('paused', '=', 1), eb('failing_since', 'is not', null)]))
      .orderBy('webhooks.name')
      .execute()
    return webhooks
      .filter(({ database }) => inScope(databases, database))
      .map(({ name, paused, reason, failing_since, last_response }) => ({
        kind: paused === 1 ? 'webhook-paused' : 'webhook-failing',
        target: name,
        since: toIsoTime(failing_since),
        detail: reason ?? errorOf(last_response),
      }))
  }

  const errorOf = (stored: string | null) => {
    if (stored === null) return null
    return parseJsonColumn(lastResponse, 'webhooks.last_response', stored).error ?? null
  }

  const fullDisk: Check = async ({ role, databases }) => {
    if (store.engine !== 'sqlite') return []
    if (!atLeast(role, 'operator') || administrationScope(databases) !== null) return []
    const { bavail, blocks, bsize } = await statfs(deps.data)
    const free = bavail * bsize
    if (free > Math.min(LITTLE_SPACE, (blocks * bsize) / 10)) return []
    const detail = `${Math.floor(free / 1024 ** 2)} MiB are free`
    return [{ kind: 'disk-full', target: deps.data, since: null, detail }]
  }

  /** In the order of `ATTENTION_KINDS`. */
  const checks = [
    failedEndpoints,
    fullDisk,
    stoppedWebhooks,
    dueCertificates,
    missingDatabases,
    waitingPeople,
    dueTokens,
  ]
  return async (reader: Principal): Promise<AttentionItem[]> => {
    const found = await Promise.all(checks.map((check) => check(reader)))
    return found.flatMap((items) => items.slice(0, ATTENTION_ENTRIES))
  }
}

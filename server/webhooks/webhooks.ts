import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import { type Conditions, matches } from '../contract/conditions.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import {
  lastResponse,
  WEBHOOKS,
  type WebhookChange,
  type WebhookGap,
  type WebhookInput,
  type WebhookRecord,
} from '../contract/webhook.ts'
import { Failure } from '../failure.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
import { requireDatabase } from '../storage/sql/database-exists.ts'
import { parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { WebhookPositionsTable, WebhooksTable } from '../storage/tables.ts'
import type { Vault } from '../storage/vault.ts'

/** How long requests are signed with the previous secret, too, ms. */
const PREVIOUS_SECRET = 24 * 3_600_000

const SECRET_BYTES = 32

/** A webhook as it is stored. */
export type StoredWebhook = Readonly<Selectable<WebhooksTable>> & {
  readonly databaseName: string
}

/** How far a webhook has delivered a collection, and what its feed has. */
export interface WebhookPosition
  extends Readonly<Omit<Selectable<WebhookPositionsTable>, 'webhook'>> {
  readonly webhook: string
  /** Null if the collection has no feed. */
  readonly feedEpoch: string | null
  readonly first: number | null
  readonly last: number | null
  /** When the oldest change was made that is not delivered. */
  readonly oldest: number | null
}

export interface WebhooksDeps {
  readonly store: Store
  readonly record: Recorder
  readonly vault: Vault
  /** Returns the time, ms since 1970. */
  readonly now: () => number
}

/** A change of a webhook by a caller. */
export interface WebhookEdit {
  readonly name: string
  readonly actor: Caller
  /** Tags of revisions that the webhook may have. Default: any. */
  readonly match?: Conditions['match']
}

export type Webhooks = ReturnType<typeof createWebhooks>

/** Creates the changes and queries of the stored webhooks. */
export function createWebhooks({ store, record, vault, now }: WebhooksDeps) {
  const { db } = store
  const all = (source: Pick<typeof db, 'selectFrom'>) =>
    source
      .selectFrom('webhooks')
      .leftJoin('databases', 'databases.id', 'webhooks.database')
      .selectAll('webhooks')
      .select((eb) => eb.fn.coalesce('databases.name', eb.val(SYSTEM_DATABASE)).as('databaseName'))
  const positions = (source: Pick<typeof db, 'selectFrom'>) =>
    source
      .selectFrom('webhook_positions as of')
      .innerJoin('webhooks', 'webhooks.id', 'of.webhook')
      .leftJoin('feeds', (join) =>
        join
          .onRef('feeds.database', '=', 'webhooks.database')
          .onRef('feeds.collection', '=', 'of.collection'),
      )
      .selectAll('of')
      .select(['feeds.epoch as feedEpoch', 'feeds.first', 'feeds.last'])
      .select((eb) =>
        eb
          .selectFrom('feed_entries')
          .select('at')
          .whereRef('feed_entries.feed', '=', 'feeds.id')
          .whereRef('feed_entries.last', '>', 'of.number')
          .orderBy('feed_entries.last')
          .limit(1)
          .as('oldest'),
      )
      .orderBy('of.collection')

  /** @throws Failure `not-found` */
  async function requireStored(
    source: Pick<typeof db, 'selectFrom'>,
    name: string,
  ): Promise<StoredWebhook> {
    const found = await all(source).where('webhooks.name', '=', name).executeTakeFirst()
    if (found === undefined) throw new Failure('not-found', 'There is no such webhook.')
    return found
  }

  /** Checks the revision of a webhook, changes it and records the change. */
  async function edit(
    trx: Change,
    { name, actor, match }: WebhookEdit,
    change: (
      stored: StoredWebhook,
      revision: number,
    ) => Promise<{ readonly set: Partial<WebhooksTable>; readonly action: EditAction }>,
    described: (stored: StoredWebhook) => object = () => ({}),
  ): Promise<StoredWebhook> {
    const revision = await beginChange(trx, actor)
    const stored = await requireStored(trx, name)
    requireRevision(stored, match)
    const { set, action } = await change(stored, revision)
    await trx
      .updateTable('webhooks')
      .set({ ...set, revision })
      .where('id', '=', stored.id)
      .execute()
    const after = { ...stored, ...set, revision }
    await record(trx, {
      actor,
      action,
      target: name,
      outcome: 'done',
      before: described(stored),
      after: described(after),
    })
    return after
  }

  const createSecret = (id: string) => {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
    return { secret, encrypted: vault.encrypt(secret, contextOf(id)) }
  }

  /** Begins to follow a collection after its last change. @throws Failure `conflict` */
  async function addPosition(trx: Change, { id, database }: StoredWebhook, collection: string) {
    const feed = await feedOf(trx, database, collection)
    if (feed === undefined) throw noFeed(collection)
    const { epoch, last: number } = feed
    const position = { webhook: id, collection, epoch, number, pending: null, pending_at: null }
    await trx.insertInto('webhook_positions').values(position).execute()
  }

  return {
    /** Yields all webhooks in the order of their names. */
    async list(): Promise<WebhookRecord[]> {
      const rows = await all(db).orderBy('webhooks.name').execute()
      const byWebhook = Map.groupBy(await positions(db).execute(), ({ webhook }) => webhook)
      return rows.map((row) => toRecord(row, byWebhook.get(row.id) ?? [], now()))
    },
    /** @throws Failure `not-found` */
    find: (name: string) => requireStored(db, name),
    /** Returns a webhook with how far it has delivered. */
    async view(stored: StoredWebhook): Promise<WebhookRecord> {
      return toRecord(
        stored,
        await positions(db).where('of.webhook', '=', stored.id).execute(),
        now(),
      )
    },
    /**
     * Creates a webhook. It delivers the changes that follow.
     *
     * @param database id.
     * @throws Failure `conflict` if the name is taken, or a collection has no feed;
     *   `too-many-requests` beyond {@link WEBHOOKS}; `database-not-found`
     */
    create: (input: WebhookInput, database: string, actor: Caller) =>
      store.change(async (trx) => {
        const revision = await beginChange(trx, actor)
        await requireDatabase(trx, database)
        const names = await trx.selectFrom('webhooks').select('name').execute()
        if (names.some(({ name }) => name === input.name)) {
          throw new Failure('conflict', `There is a webhook ${input.name}.`, { field: '/name' })
        }
        if (names.length >= WEBHOOKS) {
          throw new Failure(
            'too-many-requests',
            `There are ${WEBHOOKS} webhooks, the maximum. Delete one first.`,
          )
        }
        const id = randomBytes(8).toString('hex')
        const { secret, encrypted } = createSecret(id)
        const row: WebhooksTable = {
          id,
          name: input.name,
          database,
          url: input.url,
          filter: input.filter,
          secret: encrypted,
          previous_secret: null,
          previous_until: null,
          paused: 0,
          reason: null,
          failing_since: null,
          attempts: 0,
          retry_at: 0,
          last_response: null,
          creator: actor.name,
          created_at: now(),
          revision,
        }
        await trx.insertInto('webhooks').values(row).execute()
        const stored = { ...row, databaseName: input.database }
        for (const collection of input.collections) await addPosition(trx, stored, collection)
        await record(trx, {
          actor,
          action: 'webhook.create',
          target: input.name,
          outcome: 'done',
          before: null,
          after: { ...describe(stored), collections: input.collections },
        })
        return { secret, stored }
      }),
    /**
     * Changes a webhook. It delivers the changes of an added collection that follow.
     *
     * @throws Failure `not-found`, `precondition-failed`; `conflict` if a collection has no feed
     */
    change: ({ collections, ...set }: WebhookChange, by: WebhookEdit) =>
      store.change((trx) =>
        edit(
          trx,
          by,
          async (stored) => {
            const rows = trx.selectFrom('webhook_positions').where('webhook', '=', stored.id)
            const before = (await rows.select('collection').execute()).map((row) => row.collection)
            for (const collection of before.filter((each) => collections?.includes(each) === false))
              await trx
                .deleteFrom('webhook_positions')
                .where('webhook', '=', stored.id)
                .where('collection', '=', collection)
                .execute()
            for (const collection of collections ?? []) {
              if (!before.includes(collection)) await addPosition(trx, stored, collection)
            }
            // A message that failed is another one now.
            await trx
              .updateTable('webhook_positions')
              .set({ pending: null, pending_at: null })
              .where('webhook', '=', stored.id)
              .execute()
            return { set: { ...set, retry_at: 0 }, action: 'webhook.change' }
          },
          (stored) => ({ ...describe(stored), ...(collections && { collections }) }),
        ),
      ),
    /** @throws Failure `not-found`, `precondition-failed` */
    remove: ({ name, actor, match }: WebhookEdit) =>
      store.change(async (trx) => {
        await beginChange(trx, actor)
        const stored = await requireStored(trx, name)
        requireRevision(stored, match)
        await trx.deleteFrom('webhooks').where('id', '=', stored.id).execute()
        const [action, outcome] = ['webhook.delete', 'done'] as const
        await record(trx, {
          actor,
          action,
          target: name,
          outcome,
          before: describe(stored),
          after: null,
        })
      }),
    /** Stops deliveries. @throws Failure `not-found`, `precondition-failed` */
    pause: (by: WebhookEdit, reason: string) =>
      store.change((trx) =>
        edit(
          trx,
          by,
          async () => ({ set: { paused: 1, reason }, action: 'webhook.pause' }),
          ({ paused, reason }) => ({ paused: paused === 1, reason }),
        ),
      ),
    /**
     * Continues deliveries immediately, from the last delivered change. Skips changes that have
     * expired, and returns them as gaps.
     *
     * @throws Failure `not-found`, `precondition-failed`; `conflict` if a collection has no feed or
     *   the secret was discarded
     */
    resume: (by: WebhookEdit) =>
      store.change(async (trx) => {
        const gaps: WebhookGap[] = []
        const stored = await edit(trx, by, async ({ id, secret }) => {
          if (secret === null) {
            throw new Failure('conflict', 'Its secret was discarded. Renew the secret first.')
          }
          for (const each of await positions(trx).where('of.webhook', '=', id).execute()) {
            const gap = gapOf(each)
            if (gap === 'no feed') throw noFeed(each.collection)
            if (gap === undefined) continue
            gaps.push({ collection: each.collection, changes: gap })
            await trx
              .updateTable('webhook_positions')
              .set({
                epoch: each.feedEpoch ?? '',
                number: each.first ?? 0,
                pending: null,
                pending_at: null,
              })
              .where('webhook', '=', id)
              .where('collection', '=', each.collection)
              .execute()
          }
          return {
            set: { paused: 0, reason: null, failing_since: null, attempts: 0, retry_at: 0 },
            action: 'webhook.resume',
          }
        })
        return { stored, gaps }
      }),
    /** Replaces the secret. @throws Failure `not-found`, `precondition-failed` */
    renewSecret: (by: WebhookEdit) =>
      store.change(async (trx) => {
        let secret = ''
        const stored = await edit(trx, by, async ({ id, secret: previous }) => {
          const created = createSecret(id)
          secret = created.secret
          return {
            set: {
              secret: created.encrypted,
              previous_secret: previous,
              previous_until: previous === null ? null : now() + PREVIOUS_SECRET,
            },
            action: 'webhook.secret',
          }
        })
        return { secret, stored }
      }),
    /** Records a delivery that a caller requests, before it is sent. */
    recordRequest: (name: string, action: 'webhook.test' | 'webhook.retry', actor: Caller) =>
      store.change(async (trx) => {
        await beginChange(trx, actor)
        const outcome = 'done' as const
        await record(trx, { actor, action, target: name, outcome, before: null, after: {} })
      }),
    /**
     * Returns the secrets that sign a request.
     *
     * @throws Failure `conflict` if they were discarded or encrypted with another key
     */
    secretsOf({ id, secret, previous_secret, previous_until }: StoredWebhook): string[] {
      const isValid = previous_until !== null && previous_until > now()
      try {
        const valid = [secret, isValid ? previous_secret : null].filter((each) => each !== null)
        if (valid.length > 0) return valid.map((each) => vault.decrypt(each, contextOf(id)))
      } catch (cause) {
        throw new Failure('conflict', 'Its secret was encrypted with another key. Renew it.', {
          cause,
        })
      }
      throw new Failure('conflict', 'Its secret was discarded. Renew it.')
    },
    /** Returns what identifies the states of all webhooks. */
    async states(): Promise<string> {
      const rows = await db
        .selectFrom('webhooks')
        .select(['id', 'revision'])
        .orderBy('id')
        .execute()
      return JSON.stringify(rows)
    },
    /** Returns whether a webhook is not paused. */
    async hasActive(): Promise<boolean> {
      const active = db.selectFrom('webhooks').select('id').where('paused', '=', 0).limit(1)
      return (await active.executeTakeFirst()) !== undefined
    },
    /** Returns the webhooks to deliver for now, with their positions, longest waiting first. */
    async due(): Promise<readonly (readonly [StoredWebhook, readonly WebhookPosition[]])[]> {
      const rows = await all(db)
        .where('webhooks.paused', '=', 0)
        .where('webhooks.retry_at', '<=', now())
        .orderBy('webhooks.retry_at')
        .execute()
      if (rows.length === 0) return []
      const waiting = await positions(db)
        .where('webhooks.paused', '=', 0)
        .where((eb) =>
          eb.or([
            eb('feeds.id', 'is', null),
            eb('feeds.epoch', '<>', eb.ref('of.epoch')),
            eb('feeds.last', '>', eb.ref('of.number')),
          ]),
        )
        .execute()
      const byWebhook = Map.groupBy(waiting, ({ webhook }) => webhook)
      return rows.flatMap((row) => {
        const found = byWebhook.get(row.id)
        return found === undefined ? [] : [[row, found] as const]
      })
    },
  }
}

type EditAction = 'webhook.change' | 'webhook.pause' | 'webhook.resume' | 'webhook.secret'

const contextOf = (id: string) => `webhooks/${id}/secret`

/** Returns what the audit log says about a webhook. The path of a URL may contain a secret. */
const describe = ({ url, databaseName, filter }: StoredWebhook) => ({
  receiver: new URL(url).origin,
  database: databaseName,
  filter,
})

/** @throws Failure `precondition-failed` */
function requireRevision({ revision }: StoredWebhook, match: Conditions['match']): void {
  if (matches({ match }, String(revision))) return
  throw new Failure('precondition-failed', 'The webhook was changed. Load it again.', {
    field: 'If-Match',
  })
}

const noFeed = (collection: string) =>
  new Failure(
    'conflict',
    `${collection} has no feed. An editor turns it on with PUT /_feed/${collection}.`,
    { field: '/collections' },
  )

const feedOf = (trx: Change, database: string, collection: string) =>
  trx
    .selectFrom('feeds')
    .select(['epoch', 'last'])
    .where('database', '=', database)
    .where('collection', '=', collection)
    .executeTakeFirst()

/**
 * Returns the number of changes that have expired before they were delivered, null if it is unknown;
 * undefined if there is no gap.
 */
export function gapOf({
  epoch,
  number,
  feedEpoch,
  first,
}: WebhookPosition): number | null | 'no feed' | undefined {
  if (feedEpoch === null || first === null) return 'no feed'
  if (feedEpoch !== epoch) return null
  return number < first ? first - number : undefined
}

function toRecord(
  row: StoredWebhook,
  positions: readonly WebhookPosition[],
  now: number,
): WebhookRecord {
  const waiting = positions.map(({ epoch, feedEpoch, number, first, last }) =>
    Math.max(0, (last ?? 0) - (epoch === feedEpoch ? number : (first ?? 0))),
  )
  const times = positions.flatMap(({ oldest }) => oldest ?? [])
  const isFailing = row.failing_since !== null && row.paused === 0
  const isRotating = row.previous_until !== null && row.previous_until > now
  return {
    name: row.name,
    url: row.url,
    database: row.databaseName,
    collections: positions.map(({ collection }) => collection),
    filter: row.filter,
    state: row.paused === 1 ? 'paused' : isFailing ? 'failing' : 'active',
    reason: row.reason,
    behind: {
      changes: waiting.reduce((sum, each) => sum + each, 0),
      oldest: times.length === 0 ? null : toIsoTime(Math.min(...times)),
    },
    lastResponse:
      row.last_response === null
        ? null
        : parseJsonColumn(lastResponse, 'webhooks.last_response', row.last_response),
    retryAt: isFailing ? toIsoTime(row.retry_at) : null,
    previousSecretUntil: isRotating ? toIsoTime(row.previous_until) : null,
    creator: row.creator,
    created: toIsoTime(row.created_at),
    revision: row.revision,
  }
}

import { type CompiledQuery, Kysely } from 'kysely'
import type { Outage } from './availability/health-monitor.ts'
import type { UntilAvailable } from './availability/until-available.ts'
import { createWriteCheck, type ReadOnly } from './availability/write-check.ts'
import { ChangeQueue } from './changes/change-queue.ts'
import { type Change, type Queries, Transactions } from './changes/transactions.ts'
import type { Engine, NotificationTopic, StoreRole } from './engine.ts'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'

/** A data folder for SQLite, or the URL of a PostgreSQL database. */
export type StoreLocation = { readonly data: string } | { readonly databaseUrl: string }

/** Returns where a node with these settings has its store. */
export const locationOf = ({
  data,
  databaseUrl,
}: {
  readonly data: string
  readonly databaseUrl?: string | undefined
}): StoreLocation => (databaseUrl === undefined ? { data } : { databaseUrl })

/**
 * Opens the store and runs pending migrations. This is the only place that chooses the engine.
 *
 * @param onAvailabilityChange called when the database becomes unavailable, again when the reason
 * changes, and with undefined when it recovers. With SQLite: called when its files are deleted,
 * moved or replaced.
 * @param untilAvailable retries steps of the start until PostgreSQL is available. By default there
 * are no retries.
 * @throws Failure `conflict` if another node uses the data folder, or if a newer Gatehouse has
 * changed the store; `not-found` if there is no store (role `command` only); `unavailable` if the
 * store cannot be opened.
 */
export async function openStore(
  location: StoreLocation,
  role: StoreRole,
  onAvailabilityChange?: (outage: Outage | undefined) => void,
  untilAvailable?: UntilAvailable,
): Promise<Store> {
  const engine = await openEngine(location, role, onAvailabilityChange, untilAvailable)
  const transactions = new Transactions()
  const changes = new ChangeQueue()
  const db = new Kysely<Tables>({ dialect: transactions.guard(engine.dialect) })
  const listeners = new Set<(topic: NotificationTopic) => void>()
  const feedListeners = new Set<(feed?: number) => void>()
  try {
    const prepare = async () => {
      await migrate(db, allMigrations(engine.name), engine.afterMigrations)
      // Started after the migrations, so that their changes are not reported as changes by others.
      await engine.watch(
        (topic) => {
          for (const listener of listeners) listener(topic)
        },
        (feed) => {
          for (const listener of feedListeners) listener(feed)
        },
      )
    }
    await (untilAvailable === undefined ? prepare() : untilAvailable(prepare))
  } catch (error) {
    await engine.close()
    throw error
  }
  const readOnlyListeners = new Set<(readOnly: ReadOnly | undefined) => void>()
  const writes = createWriteCheck({
    write() {
      if (writes.readOnly !== undefined) engine.renewConnections?.()
      return writeCheckRow(db)
    },
    isDiskFull: engine.isDiskFull,
    changed(readOnly) {
      for (const listener of readOnlyListeners) listener(readOnly)
    },
  })
  engine.onWriteFailure(writes.reportFailure)
  const execute = engine.execute ?? (<R>(query: CompiledQuery<R>) => db.executeQuery(query))
  const read = engine.read ?? execute
  const guarded =
    (atomically: NonNullable<Engine['atomically']>): Store['atomically'] =>
    async (work) => {
      transactions.requireOutside()
      return atomically(work)
    }
  const outside =
    (prepareChange: NonNullable<Engine['prepareChange']>): Store['prepareChange'] =>
    (statement) => {
      const change = prepareChange(statement)
      return (...values) => {
        transactions.requireOutside()
        return change(...values)
      }
    }
  let closing: Promise<void> | undefined
  const prepareRead: Store['prepareRead'] =
    ({ query, sql, queryId }) =>
    (...parameters) => {
      transactions.requireOutside()
      return read({ query, sql, queryId, parameters })
    }
  return {
    engine: engine.name,
    db: db as Queries,
    transaction(work, length) {
      const run = () => transactions.run(db, work)
      return length === 'long' && engine.runLong !== undefined ? engine.runLong(run) : run()
    },
    async change(work) {
      transactions.requireOutside()
      const run = () => transactions.run(db, (trx) => work(trx as Change))
      return engine.name === 'sqlite' ? run() : changes.run(run)
    },
    prepare:
      ({ query, sql, queryId }) =>
      async (...parameters) => {
        transactions.requireOutside()
        return execute({ query, sql, queryId, parameters })
      },
    prepareRead,
    prepareLookup(query, limits) {
      const lookUp = engine.prepareLookup?.(query, limits)
      if (lookUp === undefined) return prepareRead(query)
      return (...parameters) => {
        transactions.requireOutside()
        return lookUp(...parameters)
      }
    },
    ...(engine.prepareChange && { prepareChange: outside(engine.prepareChange) }),
    ...(engine.atomically && { atomically: guarded(engine.atomically) }),
    async openSnapshot() {
      transactions.requireOutside()
      const { execute, close } = await engine.openSnapshot()
      let closing: Promise<void> | undefined
      return {
        prepareRead:
          ({ query, sql, queryId }) =>
          (...parameters) =>
            execute({ query, sql, queryId, parameters }),
        [Symbol.asyncDispose]() {
          closing ??= close()
          return closing
        },
      }
    },
    changedOutside: () => engine.changedOutside(),
    onNotification(callback) {
      listeners.add(callback)
      return () => listeners.delete(callback)
    },
    onFeedChange(callback) {
      feedListeners.add(callback)
      return () => feedListeners.delete(callback)
    },
    connections: () => engine.connections?.() ?? { used: 0, waiting: 0 },
    acquireLock: (name) => engine.acquireLock(name),
    ...(engine.readRevision && { readRevision: engine.readRevision }),
    onReadOnly(callback) {
      readOnlyListeners.add(callback)
      return () => readOnlyListeners.delete(callback)
    },
    outage: () => engine.outage?.(),
    recovered: async () => (await engine.recovered?.()) ?? false,
    close() {
      changes.close()
      closing ??= Promise.all([writes.stop(), engine.close()]).then(() => {})
      return closing
    },
  }
}

/** Loads the engine of the location, with its driver, and opens it. */
async function openEngine(
  ...[location, role, onAvailabilityChange = () => {}, untilAvailable]: Parameters<typeof openStore>
): Promise<Engine> {
  if ('data' in location) {
    const { openSqlite } = await import('./sqlite/open-sqlite.ts')
    return openSqlite(location.data, role, onAvailabilityChange)
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  return openPostgres(location.databaseUrl, role, onAvailabilityChange, untilAvailable)
}

/** Makes the smallest possible change, to test whether the store accepts writes. */
async function writeCheckRow(db: Kysely<Tables>): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: 'write-check', value: String(Date.now()) })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .execute()
}

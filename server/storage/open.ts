import { type CompiledQuery, Kysely, type QueryResult } from 'kysely'
import { ChangeQueue } from './change-queue.ts'
import type { ConnectionUse } from './connection-limits.ts'
import type { Engine, EngineName, NoticeTopic } from './engine.ts'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import { openPostgres } from './postgres.ts'
import type { Away } from './reach.ts'
import { openSqlite } from './sqlite.ts'
import type { Tables } from './tables.ts'
import {
  type Change,
  type Queries,
  type RunChange,
  type RunTransaction,
  Transactions,
} from './transactions.ts'
import type { UntilAvailable } from './until-available.ts'
import { createWriteCheck, type ReadOnly } from './write-check.ts'

/** An open store, ready for queries. */
export interface Store {
  readonly engine: EngineName
  /** Queries that are refused after {@link close}, or that find no store, throw `unavailable`. */
  readonly db: Queries
  readonly transaction: RunTransaction
  readonly change: RunChange
  /**
   * A query of the hot path, compiled once, to be run with other parameters: for these, building the
   * query and Kysely's way to the driver cost more than the database. Each run stands alone, outside
   * of transactions; otherwise as by {@link db}. What is read may be shared with others who ask the
   * same, and must not be changed: its rows are frozen.
   */
  prepare<R>(query: CompiledQuery<R>): (...parameters: unknown[]) => Promise<QueryResult<R>>
  /**
   * A query that only reads, prepared likewise, that is answered at once. Missing with PostgreSQL, for
   * which one has to wait.
   */
  readonly prepareAtOnce?: <R>(
    query: CompiledQuery<R>,
  ) => (...parameters: unknown[]) => QueryResult<R>
  /**
   * True once after another process (a command-line tool, another node) has changed the store
   * since the last call; false of a closed one. Costs about a microsecond: meant to be asked at
   * each request. With PostgreSQL it is true some milliseconds later, and this process's own changes
   * count too.
   *
   * @throws Failure `unavailable` where SQLite cannot read its file; the change is told later then.
   */
  changedOutside(): boolean
  /**
   * Calls back whenever another node (or this one) has changed what this one remembers, with what is
   * to be looked at again; SQLite, which one node has alone, never does. Returns the unsubscribe.
   */
  onNotice(callback: (topic: NoticeTopic) => void): () => void
  /** How the connections to PostgreSQL are used; SQLite has none. */
  connections(): ConnectionUse
  /**
   * Takes a name for this node, for as long as it is connected to the store: of all that ask, one
   * gets it, and when that one ends, the next who asks. Always true on SQLite. A node that loses its
   * connection loses the name, and this throws until it is connected again: within a few seconds where
   * the connection breaks without a word.
   *
   * @throws Failure `unavailable`
   */
  hold(name: string): Promise<boolean>
  /**
   * Reads the revision of the store: over the connection that hears notices, or over the pool where
   * that one does not answer. Missing with SQLite, where {@link changedOutside} costs next to nothing.
   *
   * @throws Failure `unavailable` where neither answers.
   */
  readonly readRevision?: () => Promise<number>
  /**
   * Calls back when the store accepts no changes (a full disk, a read-only PostgreSQL), and with
   * undefined when it does again. Reads go on. Returns the unsubscribe.
   */
  onReadOnly(callback: (readOnly: ReadOnly | undefined) => void): () => void
  /**
   * Since when the store cannot be reached, and why; undefined while it can. Meanwhile whatever it is
   * asked throws `unavailable` at once, and it is looked for until it is back.
   */
  away(): Away | undefined
  /** Looks whether it can be reached, and waits for it where it cannot; false where it could. */
  returned(): Promise<boolean>
  /** Stops accepting work, finishes what is under way, closes. Again: the same promise. */
  close(): Promise<void>
}

/** Where the store is: SQLite in a folder of this machine, or a PostgreSQL. */
export type StoreLocation = { readonly data: string } | { readonly databaseUrl: string }

/**
 * Opens the store in its newest form; the only place that chooses the engine. A `node` holds its
 * data folder alone, and hears notices; a `tool` (a command beside a running node) does neither.
 *
 * @param onReach told when a server goes away, again while it is waited for at the start, and with
 * undefined when it is back; with SQLite, when its files are deleted, moved or replaced.
 * @param untilAvailable how a node waits for PostgreSQL; by default it does not.
 * @throws Failure `conflict` when another node runs on the data folder, or a newer Gatehouse has
 * changed the store; `unavailable` when there is no getting at it.
 */
export async function openStore(
  location: StoreLocation,
  role: 'node' | 'tool',
  onReach: (away: Away | undefined) => void = () => {},
  untilAvailable?: UntilAvailable,
): Promise<Store> {
  const engine: Engine =
    'data' in location
      ? await openSqlite(location.data, role, onReach)
      : await openPostgres(location.databaseUrl, role, onReach, untilAvailable)
  const transactions = new Transactions()
  const changes = new ChangeQueue()
  const db = new Kysely<Tables>({ dialect: transactions.guard(engine.dialect) })
  const listeners = new Set<(topic: NoticeTopic) => void>()
  try {
    const prepare = async () => {
      await migrate(db, allMigrations(engine.name))
      // Only now: what this very start has migrated is nobody else's change.
      await engine.watch((topic) => {
        for (const listener of listeners) listener(topic)
      })
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
      return touch(db)
    },
    looksFull: engine.looksFull,
    changed(readOnly) {
      for (const listener of readOnlyListeners) listener(readOnly)
    },
  })
  engine.onWriteFailure(writes.suspect)
  const { readAtOnce } = engine
  const execute = engine.execute ?? (<R>(query: CompiledQuery<R>) => db.executeQuery(query))
  let closing: Promise<void> | undefined
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
    ...(readAtOnce && {
      prepareAtOnce:
        ({ query, sql, queryId }) =>
        (...parameters) => {
          transactions.requireOutside()
          return readAtOnce({ query, sql, queryId, parameters })
        },
    }),
    changedOutside: () => engine.changedOutside(),
    onNotice(callback) {
      listeners.add(callback)
      return () => listeners.delete(callback)
    },
    connections: () => engine.connections?.() ?? { used: 0, waiting: 0 },
    hold: (name) => engine.hold(name),
    ...(engine.readRevision && { readRevision: engine.readRevision }),
    onReadOnly(callback) {
      readOnlyListeners.add(callback)
      return () => readOnlyListeners.delete(callback)
    },
    away: () => engine.away?.(),
    returned: async () => (await engine.returned?.()) ?? false,
    close() {
      changes.close()
      closing ??= Promise.all([writes.stop(), engine.close()]).then(() => {})
      return closing
    },
  }
}

/** Makes a change that means nothing. */
async function touch(db: Kysely<Tables>): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: 'write-check', value: String(Date.now()) })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .execute()
}

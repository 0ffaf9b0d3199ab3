import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { CHANGE_ROWS } from '../../../contract/document.ts'
import { invariant } from '../../../contract/invariant.ts'
import { jsonPointer } from '../../../contract/json/json.ts'
import { Failure, failureAt } from '../../../failure.ts'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import { retryConflicts } from '../../../storage/availability/retry-conflicts.ts'
import { limitBytes } from '../../../storage/changes/portions.ts'
import { requireSchema } from '../../../storage/current-schema.ts'
import { type CollectionRef, TooManyRows } from '../../../storage/document-ref.ts'
import type { EngineName } from '../../../storage/engine.ts'
import { requireDatabase } from '../../../storage/sql/database-exists.ts'
import { encodeTextArray } from '../../../storage/sql/parameters.ts'
import type { Store } from '../../../storage/store.ts'
import type { Tables } from '../../../storage/tables.ts'
import { createEntityTag, type NewDocument } from '../../document.ts'
import {
  type CollectionIndexes,
  lockDocuments,
  NotUnique,
  openIndexes,
} from '../../indexes/write/collection-indexes.ts'
import { UniqueValuesTooLarge } from '../../indexes/write/entries.ts'

/** The result of writing a document. `exists`: the stored document with this id was kept. */
export type WriteResult = 'created' | 'replaced' | 'exists' | NotUnique | UniqueValuesTooLarge

/** Options of {@link WriteDocuments}. */
export interface WriteOptions {
  /** Whether stored documents with the same ids are replaced. */
  readonly replaces: boolean
  /** Whether all documents are written or none. Default: false. */
  readonly all?: boolean
  /** The tag of the schema that has validated the documents, null for none. Default: not checked. */
  readonly schema?: string | null
  /** Called at the end of the transaction, to store more in it. */
  readonly commit?: (trx: Transaction<Tables>, written: readonly WriteResult[]) => Promise<void>
}

/** A document to write. It gets a new tag if it has none. */
export type WrittenDocument = NewDocument & { readonly tag?: string }

/**
 * Writes documents one after the other, in one transaction of bounded time. A document that cannot
 * be stored does not affect the others, unless `all` is set.
 *
 * @returns the results of the first documents, at least one; call it again with the others.
 * @throws Failure `database-not-found`; with `all`, `busy`, or that of the first document that cannot
 * be stored, at its index
 * @throws TooManyRows with `all`; SchemaChanged
 */
export type WriteDocuments = (
  where: CollectionRef,
  documents: readonly WrittenDocument[],
  options: WriteOptions,
) => Promise<readonly WriteResult[]>

/** Time after which a transaction begins no other statement, ms. Other writers wait for it. */
const TIME_LIMIT = 20

/** The same with `all`, after which nothing is written, ms. */
const ALL_TIME_LIMIT = 5_000

/**
 * Maximum number of documents and of their entries in indexes that are written without a check of
 * the time, and of the bytes of the documents. SQLite writes them in a turn of the event loop.
 */
const STATEMENT_LIMITS = {
  sqlite: { rows: 250, bytes: 256 * 1024 },
  postgres: { rows: 1_000, bytes: 1024 * 1024 },
} as const satisfies Record<EngineName, { rows: number; bytes: number }>

/** Maximum size of replaced documents that are read together, bytes. */
const READ_BYTES = 1024 * 1024

interface Row extends NewDocument {
  readonly tag: string
}

export interface Scope {
  readonly engine: EngineName
  readonly where: CollectionRef
}

/** A transaction that writes documents. */
interface Target extends Scope {
  readonly trx: Transaction<Tables>
  readonly indexes: CollectionIndexes | undefined
  readonly replaces: boolean
  /** Whether the transaction runs again after a conflict with another one. */
  readonly isRepeated: boolean
}

export function createWriteDocuments({ db, engine, transaction }: Store): WriteDocuments {
  return async (where, documents, { replaces, all = false, schema, commit }) => {
    let rows: Row[] = []
    let written: WriteResult[] = []
    // The callback may count the written documents, which must happen once.
    let hasCalledBack = false
    const write = async (trx: Transaction<Tables>, isRepeated: boolean) => {
      rows = []
      written = []
      await requireDatabase(trx, where.database)
      await lockDocuments(trx, engine)
      const indexes = await openIndexes(trx, engine, where)
      if (all) requireFewRows(documents.length, indexes)
      const target: Target = { trx, engine, where, indexes, replaces, isRepeated }
      const until = performance.now() + (all ? ALL_TIME_LIMIT : TIME_LIMIT)
      while (written.length < documents.length) {
        if (written.length > 0) await nextTurn()
        if (written.length > 0 && performance.now() > until) {
          if (all) throw tookTooLong()
          break
        }
        const next = nextRows(
          documents,
          written.length,
          STATEMENT_LIMITS[engine],
          indexes?.definitions.length,
        )
        const outcomes = await writeRows(target, next, until)
        if (all) requireStored(outcomes, written.length)
        rows.push(...next.slice(0, outcomes.length))
        written.push(...outcomes)
      }
      if (schema !== undefined) await requireSchema(trx, engine, where, schema)
      hasCalledBack = commit !== undefined
      await commit?.(trx, written)
      return written
    }
    const writing = retryConflicts(
      (attempt) => transaction((trx) => write(trx, attempt > 1), 'long'),
      () => !hasCalledBack,
    )
    return resolveOutcome(writing, async () => {
      const at = written.findLastIndex((each) => each === 'created' || each === 'replaced')
      // Nothing was changed, unless the callback has stored something.
      if (at === -1) return commit === undefined && written.length > 0 ? written : undefined
      const { id = '', tag = '' } = rows[at] ?? {}
      const stored = await storedStates({ trx: db, engine, where }, [{ id }])
      return stored.get(id)?.tag === tag ? written : undefined
    })
  }
}

const tookTooLong = () =>
  new Failure(
    'busy',
    'The change takes too long. Nothing was changed. Send the header Prefer: respond-async.',
  )

/** @throws TooManyRows if the documents and their entries are too many for one transaction. */
export function requireFewRows(documents: number, indexes: CollectionIndexes | undefined): void {
  if (documents * (1 + (indexes?.definitions.length ?? 0)) > CHANGE_ROWS) throw new TooManyRows()
}

/** @param from the index of the first document. */
function requireStored(outcomes: readonly WriteResult[], from: number): void {
  for (const [at, outcome] of outcomes.entries()) {
    if (isExcluded(outcome)) throw failureAt(jsonPointer([from + at]), outcome)
  }
}

/** Returns the documents that the next statement writes: with different ids, at least one. */
function nextRows(
  documents: readonly WrittenDocument[],
  from: number,
  limit: { readonly rows: number; readonly bytes: number },
  indexes = 0,
): Row[] {
  const max = Math.ceil(limit.rows / (1 + indexes))
  const rows: Row[] = []
  const ids = new Set<string>()
  let bytes = 0
  for (let at = from; at < documents.length && rows.length < max; at++) {
    const document = documents[at] as WrittenDocument
    bytes += document.body.length
    if (ids.has(document.id) || (bytes > limit.bytes && rows.length > 0)) break
    ids.add(document.id)
    rows.push({ tag: createEntityTag(), ...document })
  }
  return rows
}

/**
 * Writes rows together, or one by one if they could affect each other in a unique index: each then
 * depends on those before it.
 */
async function writeRows(
  target: Target,
  rows: readonly Row[],
  until: number,
): Promise<WriteResult[]> {
  if (!target.indexes?.hasUnique) return write(target, rows)
  const results = await tryWrite(target, rows)
  if (results !== undefined) return results
  const written: WriteResult[] = []
  for (const row of rows) {
    if (written.length > 0 && performance.now() > until) break
    written.push(...((await tryWrite(target, [row])) ?? []))
  }
  return written
}

/** Writes rows; returns undefined, and writes nothing, if they must be written one by one. */
async function tryWrite({ trx, ...target }: Target, rows: readonly Row[]) {
  await sql`savepoint written`.execute(trx)
  const written = await write({ ...target, trx }, rows).catch((error: unknown) => {
    if (error instanceof OneByOne) return undefined
    if (!isExcluded(error)) throw error
    return rows.length === 1 ? [error] : undefined
  })
  if (isExcluded(written?.[0]) || written === undefined) {
    await sql`rollback to savepoint written`.execute(trx)
  }
  await sql`release savepoint written`.execute(trx)
  return written
}

/** Returns whether a unique index excludes a document. */
const isExcluded = (result: unknown): result is NotUnique | UniqueValuesTooLarge =>
  result instanceof NotUnique || result instanceof UniqueValuesTooLarge

/** Thrown if the replaced documents could free the values of others in a unique index. */
class OneByOne extends Error {}

async function write(target: Target, rows: readonly Row[]): Promise<WriteResult[]> {
  const { indexes, replaces } = target
  const written = new Map<Row, WriteResult>()
  for (let missing = rows; missing.length > 0; ) {
    const inserted = await insert(target, missing)
    if (inserted === missing.length) {
      for (const row of missing) written.set(row, 'created')
      break
    }
    const stored = await storedStates(target, missing)
    const existing: Row[] = []
    for (const row of missing) {
      const tag = stored.get(row.id)?.tag
      if (tag === row.tag) written.set(row, 'created')
      else if (tag !== undefined) existing.push(row)
    }
    const isSingle = rows.length === 1
    if (replaces && existing.length > 0 && indexes?.hasUnique && !isSingle) throw new OneByOne()
    if (replaces) await replace(target, existing, stored)
    for (const row of existing) written.set(row, replaces ? 'replaced' : 'exists')
    // Another transaction has deleted the others since the insertion.
    missing = missing.filter((row) => !written.has(row))
  }
  await indexes?.add(rows.filter((row) => written.get(row) !== 'exists'))
  return rows.map((row) => written.get(row) as WriteResult)
}

/**
 * Inserts the rows whose ids do not exist; returns their number.
 *
 * On PostgreSQL, `on conflict` doubles the cost of a row: about 14 instead of 7 µs. The statement
 * checks the ids instead, and fails if another transaction inserts one of them after the check.
 * The transaction is then repeated, with `on conflict`.
 */
async function insert(target: Target, rows: readonly Row[]): Promise<number> {
  const unlessStored =
    target.engine === 'sqlite' || target.isRepeated
      ? sql`on conflict do nothing`
      : sql`where id <> all(array(select id from documents where ${isAmong(target, rows)}))`
  const { numAffectedRows = 0n } = await sql`
    ${insertion(target, rows)} ${unlessStored}`.execute(target.trx)
  return Number(numAffectedRows)
}

export function insertion({ engine, where }: Scope, rows: readonly Row[]): RawBuilder<unknown> {
  // Sort the ids: transactions that insert the same ids in different orders deadlock.
  const sorted = rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const into = sql`insert into documents (database, collection, id, tag, body)`
  if (engine === 'sqlite') {
    const list = JSON.stringify(sorted.map(({ id, tag, body }) => [id, tag, body]))
    return sql`
      ${into} select ${where.database}, ${where.collection}, value ->> 0, value ->> 1, value ->> 2
      from json_each(${list}) where true`
  }
  const texts = (column: 'id' | 'tag' | 'body') => textArray(sorted.map((row) => row[column]))
  return sql`
    ${into} select ${where.database}, ${where.collection}, id, tag, body
    from unnest(${texts('id')}, ${texts('tag')}, ${texts('body')}) as each(id, tag, body)`
}

const textArray = (texts: readonly string[]) => sql`cast(${encodeTextArray(texts)} as text[])`

interface State {
  readonly tag: string
  readonly bytes: number
}

/** Returns the stored states of rows by id. No other transaction can change them from then on. */
export async function storedStates(
  target: Scope & { readonly trx: Kysely<Tables> },
  rows: readonly { readonly id: string }[],
): Promise<Map<string, State>> {
  const { trx, engine } = target
  const lock = engine === 'postgres' ? sql`order by id for update` : sql``
  const found = await sql<State & { id: string }>`
    select id, tag, octet_length(body) as bytes from documents
    where ${isAmong(target, rows)} ${lock}`.execute(trx)
  return new Map(found.rows.map(({ id, tag, bytes }) => [id, { tag, bytes }]))
}

export function isAmong({ engine, where }: Scope, rows: readonly { readonly id: string }[]) {
  const list = rows.map(({ id }) => id)
  const ids =
    engine === 'sqlite'
      ? sql`in (select value from json_each(${JSON.stringify(list)}))`
      : sql`= any(${textArray(list)})`
  return sql<boolean>`
    database = ${where.database} and collection = ${where.collection} and id ${ids}`
}

/** Replaces stored documents, which {@link storedStates} has locked. */
async function replace(
  target: Target,
  rows: readonly Row[],
  stored: ReadonlyMap<string, State>,
): Promise<void> {
  if (rows.length === 0) return
  const { trx, indexes } = target
  const sizes = rows.map(({ id }) => {
    const state = stored.get(id)
    invariant(state !== undefined, 'only stored documents are replaced')
    return { id, bytes: state.bytes }
  })
  while (indexes !== undefined && sizes.length > 0) {
    const some = sizes.splice(0, limitBytes(sizes, READ_BYTES))
    const old = await sql<NewDocument>`
      select id, body from documents where ${isAmong(target, some)}`.execute(trx)
    await indexes.remove(old.rows)
  }
  await sql`
    ${insertion(target, rows)}
    on conflict (database, collection, id)
    do update set tag = excluded.tag, body = excluded.body`.execute(trx)
}

import { type RawBuilder, sql } from 'kysely'
import { nextTurn } from '../concurrency/turns.ts'
import type { Scope } from '../contract/access/scope.ts'
import type { AuditQuery } from '../contract/audit.ts'
import {
  AUDIT_ACTIONS,
  type AuditAction,
  DATABASE_CHANGES,
  MAPPING_CHANGES,
} from '../contract/audit-action.ts'
import type { Store } from '../storage/store.ts'

/** What a reader searches for. */
export interface AuditSearch extends AuditQuery {
  /** Finds only rows that name no other databases, and no people or tokens; null: all rows. */
  readonly scope?: Scope
}

/** Limits of the search for one page. */
export interface SearchBounds {
  /** Maximum number of rows that one statement reads. */
  readonly rows: number
  /** Maximum number of statements. */
  readonly lookups: number
}

/** Keeps a statement to a few ms and a page to 20,000 rows. */
const BOUNDS: SearchBounds = { rows: 1_000, lookups: 20 }

/** The bounds of a search with a scope, which reads mappings of up to 1,000 names. */
const SCOPED_BOUNDS: SearchBounds = { rows: 50, lookups: 20 }

/**
 * Maximum number of actors, and of tokens, that are looked up in the index. Beyond it, the search
 * scans the log.
 */
const MAX_ACTORS = 5

/** Number of characters of an actor or a token in the index. */
const INDEXED = 256

/** Maximum number of different actors, and of tokens, that are compared with a text. */
const MAX_VALUES = 1_000

/**
 * Maximum clock difference between nodes, ms. Rows are ordered by time except for this difference.
 */
const CLOCK_SKEW = 24 * 60 * 60 * 1000

/** Result of a search of the audit log. */
export interface FoundRows {
  /**
   * Sequence numbers of the matching rows, newest first, and the size of their large columns in
   * bytes.
   */
  readonly found: readonly { readonly seq: number; readonly bytes: number }[]
  /** Sequence number before which the next page begins; null on the last page. */
  readonly next: number | null
}

type Condition = RawBuilder<boolean>

/** Sequence numbers that bound the search, both exclusive. */
interface Span {
  readonly after: number
  readonly before: number
}

/**
 * Finds the newest rows that match a filter. Uses an index if the filter has one, and reads at most
 * as many rows as `bounds` allows.
 */
export async function findAuditRows(
  store: Store,
  query: AuditSearch,
  bounds: SearchBounds = query.scope ? SCOPED_BOUNDS : BOUNDS,
): Promise<FoundRows> {
  const { limit = 50 } = query
  const conditions = conditionsOf(store, query)
  const branches = await branchesOf(store, query)
  let span = await spanOf(store, query)
  const found: FoundRows['found'][number][] = []
  for (let lookup = 1; ; lookup++) {
    if (conditions.length > 0) await nextTurn()
    // One row more than requested shows whether there is a next page.
    const remaining = limit + 1 - found.length
    const scanned = scannedRows(
      store,
      branches,
      span,
      conditions.length === 0 ? remaining : bounds.rows,
    )
    const passed = conditions.reduce(
      (rows, each) => rows.where(each),
      scanned.select(['seq', 'bytes']),
    )
    found.push(...(await passed.orderBy('seq', 'desc').limit(remaining).execute()))
    if (found.length > limit) {
      const page = found.slice(0, limit)
      return { found: page, next: page.at(-1)?.seq ?? null }
    }
    const { last, count } = await scanned
      .select(({ fn }) => [fn.min('seq').as('last'), fn.countAll().as('count')])
      .executeTakeFirstOrThrow()
    if (last === null || Number(count) < bounds.rows) return { found, next: null }
    if (lookup >= bounds.lookups) return { found, next: last }
    span = { ...span, before: last }
  }
}

/** Selects the newest rows of a span that match at least one of the branches. */
function scannedRows({ db }: Store, branches: readonly Condition[], span: Span, limit: number) {
  const newest = (branch: Condition) =>
    db
      .selectFrom('audit')
      .select(['seq', 'at', 'actor', 'action', 'target', 'outcome', 'change', 'token'])
      .select(sql<number>`octet_length("before") + octet_length("after")`.as('bytes'))
      .where('seq', '<', span.before)
      .where('seq', '>', span.after)
      .where(branch)
      .orderBy('seq', 'desc')
      .limit(limit)
  const [first = newest(MATCH_NONE), ...others] = branches.map(newest)
  if (others.length === 0) return db.selectFrom(first.as('scanned'))
  // Each branch has its own limit: otherwise PostgreSQL would sort all rows of a branch.
  const rows = others.reduce(
    (some, other) => some.unionAll(db.selectFrom(other.as('branch')).selectAll()),
    db.selectFrom(first.as('branch')).selectAll(),
  )
  return db.selectFrom(rows.orderBy('seq', 'desc').limit(limit).as('scanned'))
}

/** Returns the conditions of a filter; a row must match all of them. */
function conditionsOf(
  store: Store,
  { who, what, which, outcome, change, from, to, scope }: AuditSearch,
): Condition[] {
  return [
    ...(from === undefined ? [] : [sql<boolean>`at >= ${Date.parse(from)}`]),
    ...(to === undefined ? [] : [sql<boolean>`at < ${Date.parse(to)}`]),
    ...(what === undefined ? [] : [sql<boolean>`action in (${sql.join(actionsOf(what))})`]),
    ...(which === undefined ? [] : [sql<boolean>`target = ${which}`]),
    ...(change === undefined ? [] : [sql<boolean>`change = ${change}`]),
    ...(outcome === undefined ? [] : [sql<boolean>`outcome = ${outcome}`]),
    ...(who === undefined ? [] : [isBy(store, who)]),
    ...(scope == null ? [] : [namesOnly(store, scope)]),
  ]
}

/** Returns the condition that a row names only databases of a scope, and no people or tokens. */
function namesOnly({ engine }: Store, scope: readonly string[]): Condition {
  const [elements, find, asJson] =
    engine === 'sqlite'
      ? [sql.raw('json_each'), sql.raw('instr'), sql.raw('')]
      : [sql.raw('json_array_elements_text'), sql.raw('strpos'), sql.raw('::json')]
  const names = sql`(select value from ${elements}((${JSON.stringify(scope)})${asJson}))`
  // Cuts the list out of the text: PostgreSQL cannot parse every policy that may follow it.
  const exceeds = (values: RawBuilder<unknown>) => sql`exists (
    select 1 from audit as entry, ${elements}((
      case when ${values} like '{"databases":[%'
        then substr(${values}, 14, ${find}(${values}, ']') - 13) else '[]' end)${asJson}) as named
    where entry.seq = scanned.seq and named.value not in ${names})`
  return sql<boolean>`case
    when action in (${sql.join(MAPPING_CHANGES)}) then outcome = 'done'
      and not ${exceeds(sql`entry."before"`)} and not ${exceeds(sql`entry."after"`)}
    else action in (${sql.join(DATABASE_CHANGES)})
      and substr(target, 1, ${find}(target || '/', '/') - 1) in ${names} end`
}

/**
 * Returns conditions that an index serves in log order. Each row that matches the filter matches at
 * least one of them.
 */
async function branchesOf(
  store: Store,
  { who, what, which, outcome, change, scope }: AuditSearch,
): Promise<Condition[]> {
  if (change !== undefined) return [sql<boolean>`change = ${change}`]
  if (which !== undefined) {
    return [sql<boolean>`substr(target, 1, 512) = substr(cast(${which} as text), 1, 512)`]
  }
  if (what !== undefined) return actionsOf(what).map((action) => sql<boolean>`action = ${action}`)
  if (outcome === 'refused') return [sql<boolean>`outcome = 'refused'`]
  const actors = who === undefined ? undefined : await valuesOf(store, 'actor', who)
  const tokens = actors && who !== undefined ? await valuesOf(store, 'token', who) : undefined
  if (actors && tokens) {
    const [actor, token] = [foldedColumn(store, 'actor'), foldedColumn(store, 'token')]
    // The branches have no row in common.
    const others = actors.length === 0 ? MATCH_ALL : sql`${actor} not in (${sql.join(actors)})`
    return [
      ...actors.map((each) => sql<boolean>`${actor} = ${each}`),
      ...tokens.map((each) => sql<boolean>`${token} = ${each} and ${others}`),
    ]
  }
  if (scope == null) return [MATCH_ALL]
  return [...MAPPING_CHANGES, ...DATABASE_CHANGES].map((each) => sql<boolean>`action = ${each}`)
}

const MATCH_ALL = sql<boolean>`1 = 1`
const MATCH_NONE = sql<boolean>`1 = 0`

const actionsOf = (what: string): AuditAction[] =>
  AUDIT_ACTIONS.filter((action) => action === what || action.startsWith(`${what}.`))

/**
 * The indexed expression. The engine folds the case of both sides, because engines and JavaScript
 * differ in the letters they fold.
 */
const foldedColumn = ({ engine }: Store, column: 'actor' | 'token'): RawBuilder<string> => {
  const folded = sql<string>`substr(lower(${sql.ref(column)}), 1, ${sql.lit(INDEXED)})`
  return engine === 'sqlite' ? folded : sql`(${folded} collate "C")`
}

/** Returns the condition that a text is part of the actor, their name or the name of the token. */
const isBy = (store: Store, text: string): Condition => sql<boolean>`(
  ${contains(store, sql`lower(actor)`, text)} or ${contains(store, sql`lower(token)`, text)}
  or actor in ${peopleNamed(store, text)})`

const lowerCase = (text: string) => sql<string>`lower(cast(${text} as text))`

/** Returns the condition that a lower-case text contains another one, in either case. */
const contains = ({ engine }: Store, column: RawBuilder<unknown>, text: string): Condition =>
  sql<boolean>`${sql.raw(engine === 'sqlite' ? 'instr' : 'strpos')}(${column}, ${lowerCase(text)}) > 0`

/** Returns the usernames of the people whose name contains a text. */
const peopleNamed = (store: Store, text: string) =>
  sql`(select username from people where ${contains(store, sql`lower(name)`, text)})`

/**
 * Returns the distinct values of an indexed column, in lower case, that contain a text or are a
 * username of the people with that name; undefined if they are more than {@link MAX_ACTORS}, or the
 * column has more than {@link MAX_VALUES} values or longer ones than its index.
 */
async function valuesOf(store: Store, column: 'actor' | 'token', text: string) {
  const folded = foldedColumn(store, column)
  const next = (after: Condition) => sql`
    (select ${folded} from audit where ${after} and ${sql.ref(column)} is not null
     order by ${folded} limit 1)`
  // Jumps from value to value in the index, instead of reading all rows.
  const { rows } = await sql<{ value: string; fits: boolean | number }>`
    with recursive found(value) as (
      select ${next(MATCH_ALL)}
      union all
      select ${next(sql`${folded} > found.value`)} from found where found.value is not null)
    select value, (${contains(store, sql`value`, text)}
      or value in (select lower(username) from ${peopleNamed(store, text)} as named)) as fits
    from found where value is not null limit ${MAX_VALUES + 1}`.execute(store.db)
  const values = rows.filter(({ fits }) => fits).map(({ value }) => value)
  const isLong = rows.some(({ value }) => value.length >= INDEXED)
  return isLong || rows.length > MAX_VALUES || values.length > MAX_ACTORS ? undefined : values
}

/** Returns the span that contains all rows within the filter's time range. */
async function spanOf(store: Store, { from, to, before }: AuditQuery): Promise<Span> {
  const at = store.db.selectFrom('audit').select('seq').limit(1)
  const first =
    from === undefined
      ? undefined
      : await at
          .where('at', '<', Date.parse(from) - CLOCK_SKEW)
          .orderBy('at', 'desc')
          .executeTakeFirst()
  const last =
    to === undefined
      ? undefined
      : await at
          .where('at', '>=', Date.parse(to) + CLOCK_SKEW)
          .orderBy('at')
          .executeTakeFirst()
  return {
    after: first?.seq ?? Number.MIN_SAFE_INTEGER,
    before: Math.min(last?.seq ?? Number.MAX_SAFE_INTEGER, before ?? Number.MAX_SAFE_INTEGER),
  }
}

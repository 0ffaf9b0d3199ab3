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
 * Maximum number of actors that are looked up in the index. Beyond it, the search scans the log.
 */
const MAX_ACTORS = 5

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
      .select(['seq', 'at', 'actor', 'action', 'target', 'outcome', 'change'])
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
  { who, what, which, change, from, to, scope }: AuditSearch,
): Condition[] {
  return [
    ...(from === undefined ? [] : [sql<boolean>`at >= ${Date.parse(from)}`]),
    ...(to === undefined ? [] : [sql<boolean>`at < ${Date.parse(to)}`]),
    ...(what === undefined ? [] : [sql<boolean>`action in (${sql.join(actionsOf(what))})`]),
    ...(which === undefined ? [] : [sql<boolean>`target = ${which}`]),
    ...(change === undefined ? [] : [sql<boolean>`change = ${change}`]),
    ...(who === undefined ? [] : [beginsWith(sql`lower(actor)`, who)]),
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
  { who, what, which, change, scope }: AuditSearch,
): Promise<Condition[]> {
  if (change !== undefined) return [sql<boolean>`change = ${change}`]
  if (which !== undefined) {
    return [sql<boolean>`substr(target, 1, 512) = substr(cast(${which} as text), 1, 512)`]
  }
  if (what !== undefined) return actionsOf(what).map((action) => sql<boolean>`action = ${action}`)
  const actors = who === undefined ? undefined : await actorsOf(store, who)
  if (actors) return actors.map((actor) => sql<boolean>`${foldedActor(store)} = ${actor}`)
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
const foldedActor = ({ engine }: Store): RawBuilder<string> =>
  engine === 'sqlite'
    ? sql`substr(lower(actor), 1, 256)`
    : sql`(substr(lower(actor), 1, 256) collate "C")`

const lowerCase = (text: string) => sql<string>`lower(cast(${text} as text))`

const beginsWith = (column: RawBuilder<unknown>, text: string): Condition =>
  sql<boolean>`substr(${column}, 1, length(${lowerCase(text)})) = ${lowerCase(text)}`

/**
 * Returns the actors whose names begin with a text, or undefined if there are more than {@link
 * MAX_ACTORS}.
 */
async function actorsOf(store: Store, text: string): Promise<string[] | undefined> {
  const actor = foldedActor(store)
  const actors: string[] = []
  for (;;) {
    const last = actors.at(-1)
    const { rows } = await sql<{ actor: string; fits: boolean | number }>`
      select ${actor} as actor, ${beginsWith(actor, text)} as fits from audit
      where ${actor} ${last === undefined ? sql`>= ${lowerCase(text)}` : sql`> ${last}`}
      order by ${actor} limit 1`.execute(store.db)
    const [next] = rows
    if (next === undefined || !next.fits) return actors
    if (actors.length === MAX_ACTORS) return undefined
    actors.push(next.actor)
  }
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

import { type RawBuilder, sql } from 'kysely'
import type { AuditQuery } from '../contract/audit.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../contract/audit-action.ts'
import type { Store } from '../storage/open.ts'
import type { NextTurn } from '../storage/turns.ts'

/** How much of the log one page may look at. */
export interface SearchBounds {
  /** Rows that one statement looks at. */
  readonly rows: number
  /** Statements. */
  readonly looks: number
}

/** A statement takes some ms, and a page looks at 20,000 rows at most. */
const BOUNDS: SearchBounds = { rows: 1_000, looks: 20 }

/** Actors are found by their index where at most so many names begin with what is asked for. */
const MOST_ACTORS = 5

/** Rows are in the order of their times, but for the differences between the clocks of nodes, ms. */
const CLOCKS = 24 * 60 * 60 * 1000

/** Rows of the audit log that pass a filter. */
export interface FoundRows {
  /** Their numbers, newest first, and the bytes of what can be large in them. */
  readonly found: readonly { readonly seq: number; readonly bytes: number }[]
  /** The number before which the next page begins; null: this is the last one. */
  readonly next: number | null
}

/** A condition on a row of the log. */
type Condition = RawBuilder<boolean>

/** The numbers between which rows can pass a filter, both excluded. */
interface Span {
  readonly after: number
  readonly before: number
}

/**
 * Finds the newest rows that pass a filter, among a bounded number of rows, by an index where the filter
 * has one.
 */
export async function findAuditRows(
  store: Store,
  query: AuditQuery,
  nextTurn: NextTurn,
  bounds: SearchBounds = BOUNDS,
): Promise<FoundRows> {
  const { limit = 50 } = query
  const conditions = conditionsOf(query)
  const branches = await branchesOf(store, query)
  let span = await spanOf(store, query)
  const found: FoundRows['found'][number][] = []
  for (let look = 1; ; look++) {
    if (conditions.length > 0) await nextTurn()
    // One more than asked for tells whether there is a next page.
    const most = limit + 1 - found.length
    const looked = lookedAt(store, branches, span, conditions.length === 0 ? most : bounds.rows)
    const passed = conditions.reduce(
      (rows, each) => rows.where(each),
      looked.select(['seq', 'bytes']),
    )
    found.push(...(await passed.orderBy('seq', 'desc').limit(most).execute()))
    if (found.length > limit) {
      const page = found.slice(0, limit)
      return { found: page, next: page.at(-1)?.seq ?? null }
    }
    const { last, count } = await looked
      .select(({ fn }) => [fn.min('seq').as('last'), fn.countAll().as('count')])
      .executeTakeFirstOrThrow()
    if (last === null || Number(count) < bounds.rows) return { found, next: null }
    if (look >= bounds.looks) return { found, next: last }
    span = { ...span, before: last }
  }
}

/** The newest rows of a span for which one of the branches holds. */
function lookedAt({ db }: Store, branches: readonly Condition[], span: Span, most: number) {
  const newest = (branch: Condition) =>
    db
      .selectFrom('audit')
      .select(['seq', 'at', 'actor', 'action', 'target'])
      .select(sql<number>`octet_length("before") + octet_length("after")`.as('bytes'))
      .where('seq', '<', span.before)
      .where('seq', '>', span.after)
      .where(branch)
      .orderBy('seq', 'desc')
      .limit(most)
  const [first = newest(NONE), ...others] = branches.map(newest)
  if (others.length === 0) return db.selectFrom(first.as('looked'))
  // Each with a limit of its own: PostgreSQL would otherwise sort all rows of a branch.
  const rows = others.reduce(
    (some, other) => some.unionAll(db.selectFrom(other.as('branch')).selectAll()),
    db.selectFrom(first.as('branch')).selectAll(),
  )
  return db.selectFrom(rows.orderBy('seq', 'desc').limit(most).as('looked'))
}

/** All that a filter asks of a row. */
function conditionsOf({ who, what, which, from, to }: AuditQuery): Condition[] {
  return [
    ...(from === undefined ? [] : [sql<boolean>`at >= ${Date.parse(from)}`]),
    ...(to === undefined ? [] : [sql<boolean>`at < ${Date.parse(to)}`]),
    ...(what === undefined ? [] : [sql<boolean>`action in (${sql.join(actionsOf(what))})`]),
    ...(which === undefined ? [] : [sql<boolean>`target = ${which}`]),
    ...(who === undefined ? [] : [beginsWith(sql`lower(actor)`, who)]),
  ]
}

/**
 * Conditions for each of which an index has the rows in the order of the log, and of which one holds
 * for every row that passes the filter.
 */
async function branchesOf(store: Store, { who, what, which }: AuditQuery): Promise<Condition[]> {
  if (which !== undefined) {
    return [sql<boolean>`substr(target, 1, 512) = substr(cast(${which} as text), 1, 512)`]
  }
  if (what !== undefined) return actionsOf(what).map((action) => sql<boolean>`action = ${action}`)
  const actors = who === undefined ? undefined : await actorsOf(store, who)
  return actors?.map((actor) => sql<boolean>`${foldedActor(store)} = ${actor}`) ?? [EVERY]
}

const EVERY = sql<boolean>`1 = 1`
const NONE = sql<boolean>`1 = 0`

const actionsOf = (what: string): AuditAction[] =>
  AUDIT_ACTIONS.filter((action) => action === what || action.startsWith(`${what}.`))

/** As it is indexed. Both sides are folded by the engine, which may know other letters than we do. */
const foldedActor = ({ engine }: Store): RawBuilder<string> =>
  engine === 'sqlite'
    ? sql`substr(lower(actor), 1, 256)`
    : sql`(substr(lower(actor), 1, 256) collate "C")`

const folded = (text: string) => sql<string>`lower(cast(${text} as text))`

const beginsWith = (column: RawBuilder<unknown>, text: string): Condition =>
  sql<boolean>`substr(${column}, 1, length(${folded(text)})) = ${folded(text)}`

/** The actors whose names begin with a text; undefined: more than {@link MOST_ACTORS}. */
async function actorsOf(store: Store, text: string): Promise<string[] | undefined> {
  const actor = foldedActor(store)
  const actors: string[] = []
  for (;;) {
    const last = actors.at(-1)
    const { rows } = await sql<{ actor: string; fits: boolean | number }>`
      select ${actor} as actor, ${beginsWith(actor, text)} as fits from audit
      where ${actor} ${last === undefined ? sql`>= ${folded(text)}` : sql`> ${last}`}
      order by ${actor} limit 1`.execute(store.db)
    const [next] = rows
    if (next === undefined || !next.fits) return actors
    if (actors.length === MOST_ACTORS) return undefined
    actors.push(next.actor)
  }
}

/** Where rows of the time that a filter names can be. */
async function spanOf(store: Store, { from, to, before }: AuditQuery): Promise<Span> {
  const at = store.db.selectFrom('audit').select('seq').limit(1)
  const first =
    from === undefined
      ? undefined
      : await at
          .where('at', '<', Date.parse(from) - CLOCKS)
          .orderBy('at', 'desc')
          .executeTakeFirst()
  const last =
    to === undefined
      ? undefined
      : await at
          .where('at', '>=', Date.parse(to) + CLOCKS)
          .orderBy('at')
          .executeTakeFirst()
  return {
    after: first?.seq ?? Number.MIN_SAFE_INTEGER,
    before: Math.min(last?.seq ?? Number.MAX_SAFE_INTEGER, before ?? Number.MAX_SAFE_INTEGER),
  }
}

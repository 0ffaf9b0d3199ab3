import type { QueryResult } from 'kysely'
import type { QueryArrayResult } from 'pg'
import { CONNECTION_WAIT } from '../../availability/connection-limits.ts'
import type { Engine } from '../../engine.ts'
import type { ExecuteAll, PreparedStatement } from '../connections/guarded-pool.ts'
import { Batcher, type BatchLimits } from './batcher.ts'
import { inputRows, inputValues, statementName } from './input-rows.ts'
import { type Pace, RoundTripPace } from './pace.ts'
import { mayBeRowError } from './row-changes.ts'

/** Limits of the lookups of at most one row. A request needs up to three of them. */
const LIMITS: BatchLimits = {
  rows: 128,
  bytes: 256 * 1024,
  waiting: 20_000,
  waitingBytes: 16 * 1024 * 1024,
  wait: CONNECTION_WAIT.statement,
}

/** A prepared query that runs for each row of its parameters. */
interface LookupStatement {
  readonly name: string
  readonly text: string
  /** Number of parameters. */
  readonly columns: number
}

interface Lookup {
  readonly statement: LookupStatement
  readonly parameters: readonly string[]
}

type LookupResult = Pick<QueryResult<Row>, 'rows'>
type Row = Record<string, unknown>

/**
 * Lookups of a store (`Store.prepareLookup`). Equal ones that wait for the same batch run once:
 * requests often have the same token. Those of at most one row share batches: their
 * statements are sent in one message, so they share a round trip and a connection. Lookups of more
 * rows would delay the others, so their queries have batches of their own.
 */
export class Lookups {
  readonly #executeAll: ExecuteAll
  readonly #pace: Pace
  readonly #shared: Batcher<Lookup, LookupResult>
  readonly #batchers: Batcher<Lookup, LookupResult>[] = []

  constructor(executeAll: ExecuteAll, pace: Pace = new RoundTripPace()) {
    this.#executeAll = executeAll
    this.#pace = pace
    this.#shared = this.#createBatcher(LIMITS)
  }

  /** Number of lookups whose statement was not sent yet. */
  get waiting(): number {
    return this.#batchers.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  readonly prepare: NonNullable<Engine['prepareLookup']> = (
    { sql, parameters: { length } },
    bounds,
  ) => {
    const text = lookupOf(sql, length)
    const statement = { name: statementName('lookup'), text, columns: length }
    const { rows = LIMITS.rows, rowsOf } = bounds ?? {}
    const batcher = bounds === undefined ? this.#shared : this.#createBatcher({ ...LIMITS, rows })
    return (...parameters) => {
      // No parameter contains U+0000, which PostgreSQL rejects.
      const key = `${statement.name}\0${parameters.join('\0')}`
      const rows = rowsOf?.(...parameters)
      return batcher.add({ statement, parameters }, key.length, rows, key) as Promise<never>
    }
  }

  /** Rejects new lookups, and resolves when all others have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#batchers.map((batcher) => batcher.close()))
  }

  #createBatcher(limits: BatchLimits): Batcher<Lookup, LookupResult> {
    const run = (items: readonly Lookup[]) => lookUp(this.#executeAll, items)
    const batcher = new Batcher(limits, this.#pace, run, mayBeRowError)
    this.#batchers.push(batcher)
    return batcher
  }
}

/** Runs lookups in one round trip. */
async function lookUp(
  executeAll: ExecuteAll,
  items: readonly Lookup[],
): Promise<readonly LookupResult[]> {
  const groups = new Map<LookupStatement, LookupGroup>()
  const found = items.map(({ statement, parameters }) => {
    let group = groups.get(statement)
    if (group === undefined) {
      group = new LookupGroup(statement)
      groups.set(statement, group)
    }
    return group.add(parameters)
  })
  const all = [...groups.values()]
  const results = await executeAll(all.map((group) => group.statement()))
  for (const [at, group] of all.entries()) group.receive(results[at] as QueryArrayResult)
  return found
}

/** Returns the statement that runs a query for each row of its parameters. */
function lookupOf(sql: string, parameters: number): string {
  const columns = Array.from({ length: parameters }, (_, at) => `p${at + 1}`)
  const query = sql.replaceAll(/\$([0-9]+)/g, 'input.p$1')
  return `select input.at::integer as at, found.*
    from ${inputRows(columns, { position: true })}, lateral (${query}) as found`
}

/** The lookups of one statement. */
class LookupGroup {
  readonly #statement: LookupStatement
  readonly #parameters: (readonly string[])[] = []
  readonly #found: { readonly rows: Row[] }[] = []

  constructor(statement: LookupStatement) {
    this.#statement = statement
  }

  /** Returns the result of a lookup, whose rows are added by {@link receive}. */
  add(parameters: readonly string[]): LookupResult {
    const found = { rows: [] }
    this.#parameters.push(parameters)
    this.#found.push(found)
    return found
  }

  statement(): PreparedStatement {
    const { name, text, columns } = this.#statement
    return { name, text, values: inputValues(columns, this.#parameters) }
  }

  receive({ fields, rows }: QueryArrayResult): void {
    const names = fields.slice(1).map(({ name }) => name)
    for (const row of rows) this.#found[(row[0] as number) - 1]?.rows.push(toRow(names, row))
  }
}

/** @param values the position of the lookup, and the values of the columns. */
function toRow(names: readonly string[], values: readonly unknown[]): Row {
  const row: Row = {}
  for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at + 1]
  return row
}

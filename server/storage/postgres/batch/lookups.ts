import type { CompiledQuery, QueryResult } from 'kysely'
import { CONNECTION_WAIT } from '../../availability/connection-limits.ts'
import type { Engine } from '../../engine.ts'
import type { Execute } from '../guarded-pool.ts'
import { Batcher, type BatchLimits } from './batcher.ts'
import { isolates } from './isolates.ts'
import { encodeTextArray } from './text-array.ts'

/** Limits of the lookups of one prepared query. */
export const LOOKUPS: BatchLimits = {
  items: 128,
  bytes: 256 * 1024,
  inFlight: 2,
  waiting: 10_000,
  wait: CONNECTION_WAIT.statement,
}

/** Lookups of a store (`Store.prepareLookup`), batched by query. */
export class Lookups {
  readonly #execute: Execute
  readonly #limits: BatchLimits
  readonly #batchers: Pick<Batcher<unknown, unknown>, 'waiting' | 'close'>[] = []

  constructor(execute: Execute, limits: BatchLimits = LOOKUPS) {
    this.#execute = execute
    this.#limits = limits
  }

  /** Number of lookups whose statement was not sent yet. */
  get waiting(): number {
    return this.#batchers.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  readonly prepare: NonNullable<Engine['prepareLookup']> = (query) => {
    const batcher = createBatcher(this.#execute, query, this.#limits)
    this.#batchers.push(batcher)
    return (...parameters) => {
      let bytes = 0
      for (const parameter of parameters) bytes += parameter.length
      return batcher.add(parameters, bytes)
    }
  }

  /** Rejects new lookups, and resolves when all others have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#batchers.map((batcher) => batcher.close()))
  }
}

function createBatcher<R>(
  execute: Execute,
  { sql, parameters: { length } }: CompiledQuery<R>,
  limits: BatchLimits,
): Batcher<readonly string[], QueryResult<R>> {
  const statement = { name: statementName(), text: lookupOf(sql, length) }
  return new Batcher(
    limits,
    async (items) => {
      // Requests often have the same token, and read the same document.
      const positions = new Map<string, number>()
      const different: (readonly string[])[] = []
      const positionsOf = items.map((item) => {
        const key = item.join('\0')
        const known = positions.get(key)
        if (known !== undefined) return known
        positions.set(key, different.push(item) - 1)
        return different.length - 1
      })
      const values: unknown[] = []
      for (let at = 0; at < length; at++) {
        values.push(encodeTextArray(different.map((item) => item[at] as string)))
      }
      values.push(different.length)
      const { fields, rows } = await execute({ ...statement, values })
      const names = fields.slice(1).map(({ name }) => name)
      const results = different.map((): { rows: R[] } => ({ rows: [] }))
      for (const row of rows) results[(row[0] as number) - 1]?.rows.push(toRow(names, row))
      return positionsOf.map((at) => results[at] as QueryResult<R>)
    },
    isolates,
  )
}

/**
 * Returns the statement that runs a query for each position of its parameters, which are arrays.
 *
 * PostgreSQL assumes that the arrays have ten elements, and that a limit which it does not know
 * keeps a tenth of them. It therefore plans a lookup of one row in an index. Without the limit, the
 * plan that it keeps could scan a table that was small when the statement was prepared.
 */
function lookupOf(sql: string, parameters: number): string {
  const numbers = Array.from({ length: parameters }, (_, at) => at + 1)
  const arrays = numbers.map((at) => `$${at}::text[]`).join()
  const columns = numbers.map((at) => `p${at}`).join()
  const query = sql.replaceAll(/\$([0-9]+)/g, 'input.p$1')
  return `select input.at::integer as at, found.* from (
    select * from unnest(${arrays}) with ordinality as each(${columns}, at) limit $${parameters + 1}
  ) as input, lateral (${query}) as found`
}

/** @param values the position of the lookup, and the values of the columns. */
function toRow<R>(names: readonly string[], values: readonly unknown[]): R {
  const row: Record<string, unknown> = {}
  for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at + 1]
  return row as R
}

let statements = 0

/** Returns a new name for a prepared statement of this process. */
export const statementName = () => `gatehouse-${++statements}`

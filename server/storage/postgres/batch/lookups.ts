import type { CompiledQuery, QueryResult } from 'kysely'
import { CONNECTION_WAIT } from '../../availability/connection-limits.ts'
import type { Engine } from '../../engine.ts'
import type { Execute, GuardedPool } from '../guarded-pool.ts'
import { Batcher, type BatchLimits } from './batcher.ts'
import { inputRows, inputValues, statementName } from './input-rows.ts'
import { type Pace, RoundTripPace } from './pace.ts'
import { mayBeRowError } from './row-error.ts'
import { createSharedExecute } from './shared-message.ts'

/** Limits of the lookups of one prepared query. */
const LIMITS: BatchLimits = {
  rows: 128,
  bytes: 256 * 1024,
  waiting: 10_000,
  waitingBytes: 16 * 1024 * 1024,
  wait: CONNECTION_WAIT.statement,
}

/** Lookups of a store (`Store.prepareLookup`), batched by query. */
export class Lookups {
  readonly #execute: Execute
  readonly #executeShared: Execute
  readonly #pace: Pace
  readonly #atEnd = createTurnEnd()
  readonly #batchers: Pick<Batcher<unknown, unknown>, 'waiting' | 'close'>[] = []

  constructor(
    { execute, executeAll }: Pick<GuardedPool, 'execute' | 'executeAll'>,
    pace: Pace = new RoundTripPace(),
  ) {
    this.#execute = execute
    this.#executeShared = createSharedExecute(executeAll)
    this.#pace = pace
  }

  /** Number of lookups whose statement was not sent yet. */
  get waiting(): number {
    return this.#batchers.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  readonly prepare: NonNullable<Engine['prepareLookup']> = (query, bounds) => {
    // Lookups of more than one row would delay the others of their message.
    const execute = bounds === undefined ? this.#executeShared : this.#execute
    const { rows = LIMITS.rows, rowsOf } = bounds ?? {}
    const limits = { ...LIMITS, rows }
    const batcher = createBatcher(execute, query, limits, this.#pace, this.#atEnd)
    this.#batchers.push(batcher)
    return (...parameters) => {
      let bytes = 0
      for (const parameter of parameters) bytes += parameter.length
      return batcher.add(parameters, bytes, rowsOf?.(...parameters))
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
  pace: Pace,
  schedule: (begin: () => void) => void,
): Batcher<readonly string[], QueryResult<R>> {
  const statement = { name: statementName('lookup'), text: lookupOf(sql, length) }
  return new Batcher(
    limits,
    pace,
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
      const values = inputValues(length, different)
      const { fields, rows } = await execute({ ...statement, values })
      const names = fields.slice(1).map(({ name }) => name)
      const results = different.map((): { rows: R[] } => ({ rows: [] }))
      for (const row of rows) results[(row[0] as number) - 1]?.rows.push(toRow(names, row))
      return positionsOf.map((at) => results[at] as QueryResult<R>)
    },
    mayBeRowError,
    schedule,
  )
}

/** Returns the statement that runs a query for each row of its parameters. */
function lookupOf(sql: string, parameters: number): string {
  const columns = Array.from({ length: parameters }, (_, at) => `p${at + 1}`)
  const query = sql.replaceAll(/\$([0-9]+)/g, 'input.p$1')
  return `select input.at::integer as at, found.*
    from ${inputRows(columns, { position: true })}, lateral (${query}) as found`
}

/** @param values the position of the lookup, and the values of the columns. */
function toRow<R>(names: readonly string[], values: readonly unknown[]): R {
  const row: Record<string, unknown> = {}
  for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at + 1]
  return row as R
}

/** Returns a function that runs callbacks together at the end of the turn of the event loop. */
function createTurnEnd(): (callback: () => void) => void {
  let callbacks: (() => void)[] = []
  const run = () => {
    const all = callbacks
    callbacks = []
    for (const callback of all) callback()
  }
  return (callback) => {
    if (callbacks.push(callback) === 1) setImmediate(run)
  }
}

import type { QueryResult } from 'kysely'

/** Approximate size limits of one cached result and of the whole cache, bytes. */
const MAX_BYTES = { one: 64 * 1024, all: 16 * 1024 * 1024 } as const

/**
 * Approximate size limit of the cached row of a query by an index, bytes: a page of ten short
 * documents. Larger pages would displace the documents, and are cheaper to read than to keep.
 */
export const MAX_ROW_BYTES = 8 * 1024

/** Approximate overhead of a cache entry, bytes. */
const ENTRY_OVERHEAD = 256

/**
 * Results of a statement in nested maps, one level per parameter. A combined key would have to be
 * built for each lookup, and could be ambiguous.
 */
type Results = Map<string, Results | QueryResult<unknown>>

/**
 * Caches query results until the next change to the store, so that concurrent reads of a document
 * query it once. When the size limit is reached, the cache is cleared. See
 * docs/decisions/0015-query-cache.md.
 */
export class QueryCache {
  /** By SQL text. */
  readonly #results: Results = new Map()
  #version: unknown
  #size = 0

  /**
   * Returns the result of a query if it was cached for this version of the store.
   *
   * @param version changes with each commit.
   */
  get(version: unknown, sql: string, parameters: TextParameters): QueryResult<unknown> | undefined {
    if (version !== this.#version) this.#clear(version)
    let results = this.#results.get(sql)
    for (const parameter of parameters) results = (results as Results | undefined)?.get(parameter)
    return results as QueryResult<unknown> | undefined
  }

  /** Caches a result for the version last passed to {@link get}, and freezes its rows. */
  set(
    sql: string,
    parameters: TextParameters,
    answer: QueryResult<unknown>,
    maxBytes: number = MAX_BYTES.one,
  ): void {
    if (this.#version === undefined) return
    const size = ENTRY_OVERHEAD + parameters.join().length + answer.rows.reduce<number>(sizeOf, 0)
    if (size > maxBytes) return
    if (this.#size + size > MAX_BYTES.all) this.#clear(this.#version)
    this.#size += size
    for (const row of answer.rows) Object.freeze(row)
    let results = this.#results
    let step = sql
    for (const parameter of parameters) {
      const next = (results.get(step) as Results | undefined) ?? new Map()
      results.set(step, next)
      results = next
      step = parameter
    }
    results.set(step, answer)
  }

  #clear(version: unknown): void {
    this.#version = version
    this.#size = 0
    // Clearing an empty map is not free, and under frequent writes the map is nearly always empty.
    if (this.#results.size > 0) this.#results.clear()
  }
}

/** Parameters of a query whose result can be cached. */
export type TextParameters = readonly string[]

/** Returns whether all parameters are strings. The number of parameters is fixed per statement. */
export const areTextParameters = (parameters: readonly unknown[]): parameters is TextParameters =>
  parameters.every((parameter) => typeof parameter === 'string')

/** Returns a text that identifies parameters of any type. */
export const textOf = (parameters: readonly unknown[]): string =>
  parameters.map((parameter) => printed(parameter)).join()

function printed(parameter: unknown): string {
  if (typeof parameter === 'string') return `${parameter.length}:${parameter}`
  if (!(parameter instanceof Uint8Array)) return String(parameter)
  const { buffer, byteOffset, length } = parameter
  return `${length}b${Buffer.from(buffer, byteOffset, length).toString('latin1')}`
}

function sizeOf(sum: number, row: unknown): number {
  let size = sum
  for (const value of Object.values(row as object)) {
    size += typeof value === 'string' ? 2 * value.length : ENTRY_OVERHEAD
  }
  return size
}

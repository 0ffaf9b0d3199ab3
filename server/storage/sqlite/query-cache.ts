import type { QueryResult } from 'kysely'

/** Approximate size limits of one cached result and of the whole cache, bytes. */
const MOST = { one: 64 * 1024, all: 16 * 1024 * 1024 } as const

/** Approximate overhead of a cache entry, bytes. */
const ENTRY = 256

/**
 * Results of a statement in nested maps, one level per parameter. A combined key would have to be
 * built for each lookup, and could be ambiguous.
 */
type Answers = Map<string, Answers | QueryResult<unknown>>

/**
 * Caches query results until the next change to the store, so that concurrent reads of a document
 * query it once. When the size limit is reached, the cache is cleared. See
 * docs/decisions/0015-query-cache.md.
 */
export class QueryCache {
  /** By SQL text. */
  readonly #answers: Answers = new Map()
  #version: unknown
  #size = 0

  /**
   * Returns the result of a query if it was cached for this version of the store.
   *
   * @param version changes with each commit.
   */
  find(version: unknown, sql: string, parameters: Texts): QueryResult<unknown> | undefined {
    if (version !== this.#version) this.#forget(version)
    let answers = this.#answers.get(sql)
    for (const parameter of parameters) answers = (answers as Answers | undefined)?.get(parameter)
    return answers as QueryResult<unknown> | undefined
  }

  /** Caches a result for the version last passed to {@link find}, and freezes its rows. */
  keep(sql: string, parameters: Texts, answer: QueryResult<unknown>): void {
    if (this.#version === undefined) return
    const size = ENTRY + parameters.join().length + answer.rows.reduce<number>(sizeOf, 0)
    if (size > MOST.one) return
    if (this.#size + size > MOST.all) this.#forget(this.#version)
    this.#size += size
    for (const row of answer.rows) Object.freeze(row)
    let answers = this.#answers
    let step = sql
    for (const parameter of parameters) {
      const next = (answers.get(step) as Answers | undefined) ?? new Map()
      answers.set(step, next)
      answers = next
      step = parameter
    }
    answers.set(step, answer)
  }

  #forget(version: unknown): void {
    this.#version = version
    this.#size = 0
    // Clearing an empty map is not free, and under frequent writes the map is nearly always empty.
    if (this.#answers.size > 0) this.#answers.clear()
  }
}

/** Parameters of a query whose result can be cached. */
export type Texts = readonly string[]

/** Returns whether all parameters are strings. The number of parameters is fixed per statement. */
export const areTexts = (parameters: readonly unknown[]): parameters is Texts =>
  parameters.every((parameter) => typeof parameter === 'string')

function sizeOf(sum: number, row: unknown): number {
  let size = sum
  for (const value of Object.values(row as object)) {
    size += typeof value === 'string' ? 2 * value.length : ENTRY
  }
  return size
}

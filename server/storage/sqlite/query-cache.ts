import type { QueryResult } from 'kysely'

/** About how many bytes are remembered at most, of one answer and of all. */
const MOST = { one: 64 * 1024, all: 16 * 1024 * 1024 } as const

/** What an entry takes beside its texts, about, in bytes. */
const ENTRY = 256

/**
 * A statement's answers by its parameters, one after the other: a key of all of them would have to be
 * made anew each time, and could be mistaken for another.
 */
type Answers = Map<string, Answers | QueryResult<unknown>>

/**
 * Answers to reads that were asked for a moment ago, for as long as nothing in the store changes: a
 * document that many ask for is looked for once. Bounded; when it is full it begins anew.
 */
export class RememberedAnswers {
  /** By their statements. */
  readonly #answers: Answers = new Map()
  #version: unknown
  #size = 0

  /**
   * What a query was answered, where it was asked in this very state of the store.
   *
   * @param version of the store, other after every commit.
   */
  find(version: unknown, sql: string, parameters: Texts): QueryResult<unknown> | undefined {
    if (version !== this.#version) this.#forget(version)
    let answers = this.#answers.get(sql)
    for (const parameter of parameters) answers = (answers as Answers | undefined)?.get(parameter)
    return answers as QueryResult<unknown> | undefined
  }

  /** Keeps an answer of the state that {@link find} was last asked for; nobody can change it then. */
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
    // It costs something to clear what is empty, too, and while many write it nearly always is.
    if (this.#answers.size > 0) this.#answers.clear()
  }
}

/** Parameters of a query whose answers can be remembered. */
export type Texts = readonly string[]

/** Whether a query has no other parameters; a statement always has as many. */
export const areTexts = (parameters: readonly unknown[]): parameters is Texts =>
  parameters.every((parameter) => typeof parameter === 'string')

function sizeOf(sum: number, row: unknown): number {
  let size = sum
  for (const value of Object.values(row as object)) {
    size += typeof value === 'string' ? 2 * value.length : ENTRY
  }
  return size
}

import type { CompiledQuery, QueryResult } from 'kysely'

/** About how many bytes are remembered at most, of one answer and of all. */
const MOST = { one: 64 * 1024, all: 16 * 1024 * 1024 } as const

/** What an entry takes beside its texts, about, in bytes. */
const ENTRY = 256

/**
 * Answers to reads that were asked for a moment ago, for as long as nothing in the store changes: a
 * document that many ask for is looked for once. Bounded; when it is full it begins anew.
 */
export class RememberedAnswers {
  readonly #answers = new Map<string, QueryResult<unknown>>()
  #version: unknown
  #size = 0

  /**
   * What a query was answered, where it was asked in this very state of the store.
   *
   * @param version of the store, other after every commit.
   */
  find(version: unknown, key: string): QueryResult<unknown> | undefined {
    if (version !== this.#version) this.#forget(version)
    return this.#answers.get(key)
  }

  /** Keeps an answer of the state that {@link find} was last asked for; nobody can change it then. */
  keep(key: string, answer: QueryResult<unknown>): void {
    if (this.#version === undefined) return
    const size = ENTRY + key.length + answer.rows.reduce<number>(sizeOf, 0)
    if (size > MOST.one) return
    if (this.#size + size > MOST.all) this.#forget(this.#version)
    this.#size += size
    for (const row of answer.rows) Object.freeze(row)
    this.#answers.set(key, answer)
  }

  #forget(version: unknown): void {
    this.#version = version
    this.#size = 0
    // It costs something to clear what is empty, too, and while many write it nearly always is.
    if (this.#answers.size > 0) this.#answers.clear()
  }
}

/** What tells a query with its parameters from all others; undefined: it cannot be remembered. */
export function keyOf({ sql, parameters }: CompiledQuery): string | undefined {
  let lengths = ''
  let texts = ''
  for (const parameter of parameters) {
    if (typeof parameter !== 'string') return undefined
    // With their lengths, or two parameters could pass for two others.
    lengths += `${parameter.length} `
    texts += parameter
  }
  return `${lengths}${texts}${sql}`
}

function sizeOf(sum: number, row: unknown): number {
  let size = sum
  for (const value of Object.values(row as object)) {
    size += typeof value === 'string' ? 2 * value.length : ENTRY
  }
  return size
}

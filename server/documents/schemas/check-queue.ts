import type { Schema } from './schema-thread.ts'
import type { Findings } from './violations.ts'

/** A check, or a compilation, that waits for the worker. */
export interface Waiting {
  readonly schema: Schema
  /** Undefined: the schema is to be compiled, and nothing to be checked. */
  readonly documents: readonly string[] | undefined
  /** The index of the first document in an array; undefined: no array was sent. */
  readonly from: number | undefined
  readonly done: (findings: Findings) => void
  readonly fail: (error: unknown) => void
}

/** What waits for the worker, in the order in which it is sent. */
export interface CheckQueue {
  add(one: Waiting): void
  /** Returns what is sent next: several checks by quick schemas, or one other; empty: nothing waits. */
  take(): Waiting[]
  /** Removes and returns what waits for a schema, or everything. */
  remove(key?: string): Waiting[]
}

/**
 * Makes a {@link CheckQueue}. Checks by quick schemas, and all others, are taken in turn, and of those
 * a schema after the other: so one slow schema, or many, hold a quick one up for one check.
 *
 * @param isQuick asked when a check is taken.
 * @param most how many quick checks are taken together, and about how many characters of documents.
 */
export function createCheckQueue(
  isQuick: (one: Waiting) => boolean,
  most: { readonly checks: number; readonly size: number },
): CheckQueue {
  let quickOnes: Waiting[] = []
  /** By schema; the one that was taken last stands last. */
  const slowOnes = new Map<string, Waiting[]>()
  let isQuickTurn = true

  function addSlow(one: Waiting): void {
    const others = slowOnes.get(one.schema.key)
    if (others === undefined) slowOnes.set(one.schema.key, [one])
    else others.push(one)
  }

  function takeQuick(): Waiting[] {
    const some: Waiting[] = []
    let size = 0
    let at = 0
    for (; at < quickOnes.length && some.length < most.checks && size < most.size; at++) {
      const one = quickOnes[at] as Waiting
      if (!isQuick(one)) {
        addSlow(one)
        continue
      }
      some.push(one)
      for (const text of one.documents ?? []) size += text.length
    }
    quickOnes = quickOnes.slice(at)
    return some
  }

  function takeSlow(): Waiting[] {
    const [next] = slowOnes
    if (next === undefined) return []
    const [key, ones] = next
    const some = ones.splice(0, 1)
    slowOnes.delete(key)
    if (ones.length > 0) slowOnes.set(key, ones)
    return some
  }

  return {
    add(one) {
      if (isQuick(one)) quickOnes.push(one)
      else addSlow(one)
    },
    take() {
      isQuickTurn = !isQuickTurn
      const some = isQuickTurn ? takeQuick() : takeSlow()
      if (some.length > 0) return some
      return isQuickTurn ? takeSlow() : takeQuick()
    },
    remove(key) {
      const isMeant = ({ schema }: Waiting) => key === undefined || schema.key === key
      const removed = [...quickOnes, ...slowOnes.values().toArray().flat()].filter(isMeant)
      quickOnes = quickOnes.filter((one) => !isMeant(one))
      for (const { schema } of removed) slowOnes.delete(schema.key)
      return removed
    },
  }
}

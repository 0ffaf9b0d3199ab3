import type { Schema } from './schema-thread.ts'
import type { ValidationResult } from './violations.ts'

/** A check or a compilation that waits for the worker. */
export interface QueuedCheck {
  readonly schema: Schema
  /** Undefined for a compilation without a check. */
  readonly documents: readonly string[] | undefined
  /** The index of the first document in an array; undefined for a single document. */
  readonly from: number | undefined
  readonly done: (result: ValidationResult) => void
  readonly fail: (error: unknown) => void
}

/** The queue of checks for the worker, in the order in which they are sent. */
export interface CheckQueue {
  add(one: QueuedCheck): void
  /**
   * Removes and returns the next batch: several checks by quick schemas, or one check by
   * another schema. Empty if nothing waits.
   */
  take(): QueuedCheck[]
  /** Removes and returns the entries of a schema, or all entries. */
  remove(key?: string): QueuedCheck[]
}

/**
 * Returns a queue that alternates between quick checks and others, and rotates the others by
 * schema. A slow schema, or several, delays a quick one by one check only.
 *
 * @param isQuick evaluated when a check is added and again when it is taken.
 * @param limits maximum number of quick checks in a batch, and its approximate size in characters.
 */
export function createCheckQueue(
  isQuick: (one: QueuedCheck) => boolean,
  limits: { readonly checks: number; readonly size: number },
): CheckQueue {
  let quickChecks: QueuedCheck[] = []
  /** The checks by schema. The schema whose check was taken last is at the end. */
  const slowChecks = new Map<string, QueuedCheck[]>()
  let isQuickTurn = true

  function addSlow(one: QueuedCheck): void {
    const others = slowChecks.get(one.schema.key)
    if (others === undefined) slowChecks.set(one.schema.key, [one])
    else others.push(one)
  }

  function takeQuick(): QueuedCheck[] {
    const some: QueuedCheck[] = []
    let size = 0
    let at = 0
    for (; at < quickChecks.length && some.length < limits.checks && size < limits.size; at++) {
      const one = quickChecks[at] as QueuedCheck
      if (!isQuick(one)) {
        addSlow(one)
        continue
      }
      some.push(one)
      for (const text of one.documents ?? []) size += text.length
    }
    quickChecks = quickChecks.slice(at)
    return some
  }

  function takeSlow(): QueuedCheck[] {
    const [next] = slowChecks
    if (next === undefined) return []
    const [key, ones] = next
    const some = ones.splice(0, 1)
    slowChecks.delete(key)
    if (ones.length > 0) slowChecks.set(key, ones)
    return some
  }

  return {
    add(one) {
      if (isQuick(one)) quickChecks.push(one)
      else addSlow(one)
    },
    take() {
      isQuickTurn = !isQuickTurn
      const some = isQuickTurn ? takeQuick() : takeSlow()
      if (some.length > 0) return some
      return isQuickTurn ? takeSlow() : takeQuick()
    },
    remove(key) {
      const isMeant = ({ schema }: QueuedCheck) => key === undefined || schema.key === key
      const removed = [...quickChecks, ...slowChecks.values().toArray().flat()].filter(isMeant)
      quickChecks = quickChecks.filter((one) => !isMeant(one))
      for (const { schema } of removed) slowChecks.delete(schema.key)
      return removed
    },
  }
}

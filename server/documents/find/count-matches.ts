import { nextTurn } from '../../concurrency/turns.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import type { EntryPosition } from '../indexes/read/index-reader.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { IndexStep } from './scan-limit.ts'

interface CountDeps {
  readonly repository: DocumentRepository
  /** Runs each statement. */
  readonly step: IndexStep
}

/**
 * Returns whether the entries of a plan are exactly the documents that match, so that
 * {@link countEntries} can count them without reading documents.
 */
export const isCountable = ({ isExact, isOrdered }: IndexPlan): boolean => isExact && isOrdered

/** Returns the number of entries of a plan; undefined if its index was dropped. */
export async function countEntries(
  { repository: { indexes: reader }, step }: CountDeps,
  where: CollectionRef,
  { index, streams }: IndexPlan,
): Promise<number | undefined> {
  let total = 0
  for (const { lower, upper } of streams.flatMap(({ ranges }) => ranges)) {
    let after: EntryPosition | undefined = { key: lower, id: '' }
    while (after !== undefined) {
      const begin: EntryPosition = after
      const { count, last } = await step(total, 0, () => reader.count(index, { ...begin, upper }))
      total += count
      after = last
      if (last !== undefined) await nextTurn()
    }
  }
  return (await reader.isReady(where, index)) ? total : undefined
}

/** Returns the number of documents of a collection; undefined if they have to be read. */
export async function countDocuments(
  { repository, step }: CountDeps,
  where: CollectionRef,
): Promise<number | undefined> {
  let total = 0
  let after: string | undefined = ''
  while (after !== undefined) {
    const begin: string = after
    const counted = await step(total, 0, () => repository.count(where, begin))
    if (counted === undefined) return undefined
    total += counted.count
    after = counted.last
    if (after !== undefined) await nextTurn()
  }
  return total
}

import type { NextTurn } from '../../storage/changes/turns.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import type { EntryPosition } from '../indexes/read/index-reader.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'

interface CountDeps {
  readonly repository: DocumentRepository
  readonly nextTurn: NextTurn
  /** Awaited between two statements, with the number of documents counted so far. */
  readonly check: (counted: number) => Promise<void>
}

/**
 * Returns whether the entries of a plan are exactly the documents that match, so that
 * {@link countEntries} can count them without reading documents.
 */
export const isCountable = (
  { mayReserve }: DocumentRepository['indexes'],
  { index, isExact, isOrdered }: IndexPlan,
): boolean => isExact && isOrdered && !(mayReserve && index.isUnique)

/** Returns the number of entries of a plan; undefined if its index was dropped. */
export async function countEntries(
  { repository: { indexes: reader }, nextTurn, check }: CountDeps,
  where: CollectionRef,
  { index, streams }: IndexPlan,
): Promise<number | undefined> {
  let total = 0
  for (const { lower, upper } of streams.flatMap(({ ranges }) => ranges)) {
    let after: EntryPosition | undefined = { key: lower, id: '' }
    while (after !== undefined) {
      await check(total)
      const { count, last } = await reader.count(index, { ...after, upper })
      total += count
      after = last
      if (last !== undefined) await nextTurn()
    }
  }
  return (await reader.isReady(where, index)) ? total : undefined
}

/** Returns the number of documents of a collection; undefined if they have to be read. */
export async function countDocuments(
  { repository, nextTurn, check }: CountDeps,
  where: CollectionRef,
): Promise<number | undefined> {
  let total = 0
  let after: string | undefined = ''
  while (after !== undefined) {
    await check(total)
    const counted = await repository.count(where, after)
    if (counted === undefined) return undefined
    total += counted.count
    after = counted.last
    if (after !== undefined) await nextTurn()
  }
  return total
}

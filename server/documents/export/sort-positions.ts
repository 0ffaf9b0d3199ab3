import { createTimeSlice, nextTurn } from '../../concurrency/turns.ts'
import { createComparator, mergeRuns, type Position, positionOf } from '../query/order.ts'
import type { ExportQuery } from '../query/query.ts'
import { type Batches, createDocumentParser } from './matching-document.ts'

/** Limits of a sort in memory. */
export interface SortLimits {
  readonly documents: number
  /** Characters of the ids and of the values to sort by. */
  readonly characters: number
}

/** Default limits of a sort in memory, for queries whose order no index has. */
export const SORT_LIMITS: SortLimits = { documents: 100_000, characters: 16 * 1024 * 1024 }

/** Number of positions that are sorted without a pause, a few milliseconds. */
const RUN_LENGTH = 2_000

/** A position in the requested order, and the size of the document at it. */
interface SizedPosition extends Position {
  readonly bytes: number
}

/**
 * Returns the positions of documents in the requested order, after a position; undefined if they
 * exceed the limits.
 */
export async function collectPositions(
  candidates: Batches,
  query: ExportQuery,
  after: Position | undefined,
  limits: SortLimits,
): Promise<Iterable<SizedPosition> | undefined> {
  const { sort } = query
  const compare = createComparator(sort)
  const parse = createDocumentParser(query)
  const runs: SizedPosition[][] = []
  let run: SizedPosition[] = []
  let count = 0
  let characters = 0
  const timeSlice = createTimeSlice()
  for await (const found of candidates) {
    for (const { id, body, parsed } of found) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      const values = parsed ?? parse(body)
      if (values === undefined) {
        query.onDamaged?.(id)
        continue
      }
      const position = positionOf(values, id, sort)
      if (after !== undefined && compare(position, after) <= 0) continue
      count++
      characters += sizeOf(position)
      if (count > limits.documents || characters > limits.characters) return undefined
      run.push({ ...position, bytes: Buffer.byteLength(body) })
      if (run.length < RUN_LENGTH) continue
      runs.push(run.sort(compare))
      run = []
      await nextTurn()
    }
  }
  return mergeRuns([...runs, run.sort(compare)], compare)
}

const sizeOf = ({ id, values }: Position): number =>
  values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    id.length,
  )

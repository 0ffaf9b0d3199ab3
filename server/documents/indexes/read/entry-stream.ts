import type { CollectionRef } from '../../../storage/document-ref.ts'
import { compareCodePoints } from '../../query/order.ts'
import type { IndexDefinition } from '../definition.ts'
import { type KeyRange, successorOf } from '../index-key.ts'
import type { Stream } from '../plan.ts'
import type { EntryRange, IndexEntry, IndexReader } from './index-reader.ts'

/** A position in an index: the key after the prefix of a stream, and the id of a document. */
export interface StreamPosition {
  readonly rest: Buffer
  readonly id: string
}

/**
 * Reads the entries of a stream in order, some at a time: by ascending or descending keys, and by
 * ascending ids among equal keys.
 */
export class EntryStream {
  readonly #prefix: Buffer
  readonly #isDescending: boolean
  readonly #read: (range: EntryRange, limit: number) => Promise<IndexEntry[]>
  /** The parts of the index that have not been read yet, the next one last. */
  readonly #parts: EntryRange[]
  #entries: readonly IndexEntry[] = []
  #at = 0

  /** @param from the position after which it begins. */
  constructor(
    reader: Pick<IndexReader, 'entries'>,
    where: CollectionRef,
    index: IndexDefinition,
    { prefix, ranges }: Stream,
    isDescending: boolean,
    from?: StreamPosition,
  ) {
    this.#prefix = prefix
    this.#isDescending = isDescending
    this.#read = (range, limit) => reader.entries(where, index, range, limit)
    const parts = isDescending ? ranges : ranges.toReversed()
    this.#parts = parts.map((range) => ({ ...range, isDescending }))
    if (from !== undefined) this.#beginAfter(Buffer.concat([prefix, from.rest]), from.id)
  }

  /** Reads more entries if none is left; returns the first one, or undefined at the end. */
  async peek(limit: number): Promise<IndexEntry | undefined> {
    while (this.#at === this.#entries.length) {
      const part = this.#parts.pop()
      if (part === undefined) return undefined
      const entries = await this.#read(part, limit)
      this.#at = 0
      this.#entries = part.isDescending
        ? this.#followDescending(part, entries, limit)
        : this.#followAscending(part, entries, limit)
    }
    return this.#entries[this.#at]
  }

  /** Removes the first entry. */
  skip(): void {
    this.#at++
  }

  /** Returns and removes the next entries, at least one unless the end is reached. */
  async take(limit: number): Promise<readonly IndexEntry[]> {
    await this.peek(limit)
    const taken = this.#entries.slice(this.#at, this.#at + limit)
    this.#at += taken.length
    return taken
  }

  /** Compares entries of streams of the same direction by the rest of their keys, and by id. */
  isBefore(entry: IndexEntry, stream: EntryStream, other: IndexEntry): boolean {
    const order = Buffer.compare(this.#restOf(entry), stream.#restOf(other))
    const ordered = this.#isDescending ? -order : order
    return (ordered || compareCodePoints(entry.id, other.id)) < 0
  }

  #restOf({ key }: IndexEntry): Uint8Array {
    return key.subarray(this.#prefix.length)
  }

  #followAscending(part: EntryRange, entries: readonly IndexEntry[], limit: number) {
    if (entries.length === limit) this.#parts.push({ ...part, after: entries.at(-1) })
    return entries
  }

  /**
   * Returns the entries by ascending ids among equal keys. The ids of the last key may be incomplete;
   * they are read again, in ascending order.
   */
  #followDescending(part: EntryRange, entries: readonly IndexEntry[], limit: number) {
    const last = entries.at(-1)
    const groups: IndexEntry[][] = []
    for (const entry of entries) {
      const group = groups.at(-1)
      if (group?.[0] !== undefined && isSameKey(group[0], entry)) group.push(entry)
      else groups.push([entry])
    }
    if (last !== undefined && entries.length === limit) {
      groups.pop()
      const key = Buffer.from(last.key)
      this.#parts.push({ ...part, upper: key }, rangeOfKey(key))
    }
    return groups.flatMap((group) => group.reverse())
  }

  #beginAfter(key: Buffer, id: string): void {
    for (;;) {
      const part = this.#parts.pop()
      if (part === undefined) return
      const { lower, upper } = part
      const isPast = this.#isDescending
        ? Buffer.compare(lower, key) > 0
        : Buffer.compare(upper, key) <= 0
      if (isPast) continue
      const isWithin = Buffer.compare(lower, key) <= 0 && Buffer.compare(key, upper) < 0
      if (!isWithin) this.#parts.push(part)
      else if (this.#isDescending) {
        this.#parts.push({ ...part, upper: key }, { ...rangeOfKey(key), after: { key, id } })
      } else this.#parts.push({ ...part, after: { key, id } })
      return
    }
  }
}

const isSameKey = (one: IndexEntry, other: IndexEntry): boolean =>
  Buffer.compare(one.key, other.key) === 0

/** Returns the range of one key: no other key begins with it. */
const rangeOfKey = (key: Buffer): KeyRange => ({ lower: key, upper: successorOf(key) })

/** Returns the next entries of several streams, merged by the rest of their keys and the id. */
export async function mergeStreams(
  streams: readonly EntryStream[],
  limit: number,
): Promise<readonly IndexEntry[]> {
  const [only] = streams
  if (only !== undefined && streams.length === 1) return only.take(limit)
  const merged: IndexEntry[] = []
  const each = Math.max(MIN_BATCH, Math.ceil(limit / streams.length))
  while (merged.length < limit) {
    let first: { readonly stream: EntryStream; readonly entry: IndexEntry } | undefined
    for (const stream of streams) {
      const entry = await stream.peek(each)
      if (entry === undefined) continue
      if (first === undefined || stream.isBefore(entry, first.stream, first.entry)) {
        first = { stream, entry }
      }
    }
    if (first === undefined) break
    merged.push(first.entry)
    first.stream.skip()
  }
  return merged
}

/** Minimum number of entries that one of several streams reads at a time. */
const MIN_BATCH = 16

import { createTimeSlice, nextTurn } from '../../concurrency/turns.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { type KeyRange, successorOf } from '../indexes/index-key.ts'
import type { Stream } from '../indexes/plan.ts'
import type { EntryRange, IndexEntry, IndexReader } from '../indexes/read/index-reader.ts'

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
  readonly isDescending: boolean
  readonly #prefix: Buffer
  readonly #read: (range: EntryRange, limit: number) => Promise<IndexEntry[]>
  /** The ranges of the index that have not been read yet, the next one last. */
  readonly #ranges: EntryRange[]
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
    this.isDescending = isDescending
    this.#prefix = prefix
    this.#read = (range, limit) => reader.entries(where, index, range, limit)
    const ordered = isDescending ? ranges : ranges.toReversed()
    this.#ranges = ordered.map((range) => ({ ...range, isDescending }))
    if (from !== undefined) this.#beginAfter(Buffer.concat([prefix, from.rest]), from.id)
  }

  /** Returns the first entry, or undefined at the end. Returns a promise only if it has to read. */
  peek(limit: number): IndexEntry | Promise<IndexEntry | undefined> {
    return this.#entries[this.#at] ?? this.#readMore(limit)
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

  /** Returns the key of an entry after the prefix of the stream. */
  restOf({ key }: IndexEntry): Uint8Array {
    return key.subarray(this.#prefix.length)
  }

  async #readMore(limit: number): Promise<IndexEntry | undefined> {
    while (this.#at === this.#entries.length) {
      const range = this.#ranges.pop()
      if (range === undefined) return undefined
      const entries = await this.#read(range, limit)
      this.#at = 0
      this.#entries = range.isDescending
        ? this.#followDescending(range, entries, limit)
        : this.#followAscending(range, entries, limit)
    }
    return this.#entries[this.#at]
  }

  #followAscending(range: EntryRange, entries: readonly IndexEntry[], limit: number) {
    if (entries.length === limit) this.#ranges.push({ ...range, after: entries.at(-1) })
    return entries
  }

  /**
   * Returns the entries by ascending ids among equal keys. The ids of the last key may be incomplete;
   * they are read again, in ascending order.
   */
  #followDescending(range: EntryRange, entries: readonly IndexEntry[], limit: number) {
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
      this.#ranges.push({ ...range, upper: key }, rangeOfKey(key))
    }
    return groups.flatMap((group) => group.reverse())
  }

  #beginAfter(key: Buffer, id: string): void {
    for (;;) {
      const range = this.#ranges.pop()
      if (range === undefined) return
      const { lower, upper } = range
      const isPast = this.isDescending
        ? Buffer.compare(lower, key) > 0
        : Buffer.compare(upper, key) <= 0
      if (isPast) continue
      const isWithin = Buffer.compare(lower, key) <= 0 && Buffer.compare(key, upper) < 0
      if (!isWithin) this.#ranges.push(range)
      else if (this.isDescending) {
        this.#ranges.push({ ...range, upper: key }, { ...rangeOfKey(key), after: { key, id } })
      } else this.#ranges.push({ ...range, after: { key, id } })
      return
    }
  }
}

const isSameKey = (one: IndexEntry, other: IndexEntry): boolean =>
  Buffer.compare(one.key, other.key) === 0

/** Returns the range of one key: no other key begins with it. */
const rangeOfKey = (key: Buffer): KeyRange => ({ lower: key, upper: successorOf(key) })

/** Minimum number of entries that one of several streams reads at a time. */
const MIN_BATCH = 16

/** The first entry of a stream. */
interface Head {
  readonly stream: EntryStream
  readonly entry: IndexEntry
  readonly rest: Uint8Array
}

/**
 * Returns the next entries of several streams of the same direction, merged by the rest of their
 * keys and the id. Other requests run before a merge of more than one stream, and during it.
 */
export async function mergeStreams(
  streams: readonly EntryStream[],
  limit: number,
): Promise<readonly IndexEntry[]> {
  const [only] = streams
  if (only !== undefined && streams.length === 1) return only.take(limit)
  await nextTurn()
  const timeSlice = createTimeSlice()
  const each = Math.max(MIN_BATCH, Math.ceil(limit / streams.length))
  const merged: IndexEntry[] = []
  const heads: Head[] = []
  let withoutHead = streams
  while (merged.length < limit) {
    for (const stream of withoutHead) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      const next = stream.peek(each)
      const entry = next instanceof Promise ? await next : next
      if (entry !== undefined) addHead(heads, { stream, entry, rest: stream.restOf(entry) })
    }
    const first = heads.pop()
    if (first === undefined) break
    merged.push(first.entry)
    first.stream.skip()
    withoutHead = [first.stream]
  }
  return merged
}

/** Adds a head to others in reverse order: the first one is at the end. */
function addHead(heads: Head[], head: Head): void {
  let [from, to] = [0, heads.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (isBefore(head, heads[middle] as Head)) from = middle + 1
    else to = middle
  }
  heads.splice(from, 0, head)
}

function isBefore(one: Head, other: Head): boolean {
  const order = Buffer.compare(one.rest, other.rest)
  const ordered = one.stream.isDescending ? -order : order
  return (ordered || compareCodePoints(one.entry.id, other.entry.id)) < 0
}

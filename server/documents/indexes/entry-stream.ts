import type { CollectionRef } from '../../storage/document-ref.ts'
import { compareCodePoints } from '../query/order.ts'
import type { IndexDefinition } from './definition.ts'
import type { IndexEntry, IndexReader } from './index-reader.ts'
import type { Stream } from './plan.ts'

/** A position in an index: the key after the prefix of a stream, and the id of a document. */
export interface StreamPosition {
  readonly rest: Buffer
  readonly id: string
}

/** Reads the entries of a stream in order, some at a time. */
export class EntryStream {
  readonly #stream: Stream
  readonly #read: (...parameters: ReadParameters) => Promise<IndexEntry[]>
  #range = 0
  #after: Pick<IndexEntry, 'key' | 'id'> | undefined
  #entries: IndexEntry[] = []
  #at = 0

  /** @param from the position after which it begins. */
  constructor(
    reader: Pick<IndexReader, 'entries'>,
    where: CollectionRef,
    index: IndexDefinition,
    stream: Stream,
    from?: StreamPosition,
  ) {
    this.#stream = stream
    this.#read = (...parameters) => reader.entries(where, index, ...parameters)
    if (from === undefined) return
    const key = Buffer.concat([stream.prefix, from.rest])
    while (this.#hasRange() && Buffer.compare(this.#upper, key) <= 0) this.#range++
    const range = stream.ranges[this.#range]
    if (range !== undefined && Buffer.compare(range.lower, key) <= 0) {
      this.#after = { key, id: from.id }
    }
  }

  /** Reads more entries if none is left; returns the first one, or undefined at the end. */
  async peek(limit: number): Promise<IndexEntry | undefined> {
    while (this.#at === this.#entries.length && this.#hasRange()) {
      const range = this.#stream.ranges[this.#range] as Stream['ranges'][number]
      this.#entries = await this.#read(range, this.#after, limit)
      this.#at = 0
      this.#after = this.#entries.at(-1)
      if (this.#entries.length === limit) break
      this.#range++
      this.#after = undefined
    }
    return this.#entries[this.#at]
  }

  /** Removes the first entry. */
  skip(): void {
    this.#at++
  }

  /** Returns the part of a key that decides the order of entries of different streams. */
  restOf({ key }: IndexEntry): Buffer {
    return key.subarray(this.#stream.prefix.length)
  }

  get #upper(): Buffer {
    return this.#stream.ranges[this.#range]?.upper ?? Buffer.of()
  }

  #hasRange(): boolean {
    return this.#range < this.#stream.ranges.length
  }
}

type ReadParameters =
  Parameters<IndexReader['entries']> extends [infer _W, infer _I, ...infer Rest] ? Rest : never

/** Returns the next entries of several streams, merged by the rest of their keys and the id. */
export async function mergeStreams(
  streams: readonly EntryStream[],
  limit: number,
): Promise<IndexEntry[]> {
  const merged: IndexEntry[] = []
  const each = Math.max(LEAST, Math.ceil(limit / streams.length))
  while (merged.length < limit) {
    let first: { readonly stream: EntryStream; readonly entry: IndexEntry } | undefined
    for (const stream of streams) {
      const entry = await stream.peek(streams.length === 1 ? limit : each)
      if (entry === undefined) continue
      if (first === undefined || isBefore(stream, entry, first)) first = { stream, entry }
    }
    if (first === undefined) break
    merged.push(first.entry)
    first.stream.skip()
  }
  return merged
}

/** Minimum number of entries that one of several streams reads at a time. */
const LEAST = 16

function isBefore(
  stream: EntryStream,
  entry: IndexEntry,
  other: { readonly stream: EntryStream; readonly entry: IndexEntry },
): boolean {
  const order = Buffer.compare(stream.restOf(entry), other.stream.restOf(other.entry))
  return (order || compareCodePoints(entry.id, other.entry.id)) < 0
}

/** Number of requests that are kept for each endpoint. */
const RING_ENTRIES = 200

/** Maximum size of all rings of a node, bytes, as {@link sizeOf} estimates it. */
const MAX_BYTES = 32 * 1024 * 1024

/** Estimated memory of an entry without its texts, and of an empty ring, bytes. */
const ENTRY_BYTES = 256
const RING_BYTES = 2 * 1024

/** An entry of a ring. Its texts must not be parts of longer ones, which would stay in memory. */
export interface RingEntry {
  /** Increases with each entry of the node. */
  readonly id: number
  /** The address of the endpoint, which selects the ring. */
  readonly endpoint: string
}

interface Ring<E> {
  /** Circular once it is full. */
  readonly entries: E[]
  /** The sizes of the entries, bytes. */
  readonly sizes: number[]
  /** Index of the oldest entry. */
  first: number
  bytes: number
}

/**
 * The last entries of each endpoint, in bounded memory: the ring that was not written for the
 * longest time is discarded first.
 */
export class Rings<E extends RingEntry> {
  /** The ring that was written last is last. */
  readonly #rings = new Map<string, Ring<E>>()
  readonly #maxBytes: number
  #last: Ring<E> | undefined
  #bytes = 0

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  add(entry: E): void {
    const { endpoint } = entry
    let ring = this.#rings.get(endpoint)
    if (ring === undefined) {
      ring = { entries: [], sizes: [], first: 0, bytes: 0 }
      this.#count(ring, RING_BYTES)
    }
    if (ring !== this.#last) {
      this.#rings.delete(endpoint)
      this.#rings.set(endpoint, ring)
      this.#last = ring
    }
    const isFull = ring.entries.length === RING_ENTRIES
    const at = isFull ? ring.first : ring.entries.length
    const size = sizeOf(entry)
    this.#count(ring, size - (ring.sizes[at] ?? 0))
    ring.entries[at] = entry
    ring.sizes[at] = size
    if (isFull) ring.first = (ring.first + 1) % RING_ENTRIES
    if (this.#bytes > this.#maxBytes) this.#discard()
  }

  /**
   * Returns the newest entries that match, newest first.
   *
   * @param endpoints canonical addresses; undefined: all.
   */
  newest(
    limit: number,
    endpoints: ReadonlySet<string> | undefined,
    matches: (entry: E) => boolean,
  ): E[] {
    let found: E[] = []
    // Ids of older entries are not among the newest.
    let after = 0
    for (const [endpoint, ring] of [...this.#rings].reverse()) {
      if (endpoints !== undefined && !endpoints.has(endpoint)) continue
      const { entries, first } = ring
      const before = found.length
      for (let at = entries.length - 1; at >= 0; at--) {
        const entry = entries[(first + at) % entries.length]
        // Rings are in the order of their newest entries, and entries in that of their ids.
        if (entry === undefined || entry.id <= after) break
        if (matches(entry)) found.push(entry)
      }
      if (found.length === before) continue
      found = found.sort((a, b) => b.id - a.id).slice(0, limit)
      if (found.length === limit) after = found.at(-1)?.id ?? 0
    }
    return found
  }

  #count(ring: Ring<E>, bytes: number): void {
    ring.bytes += bytes
    this.#bytes += bytes
  }

  #discard(): void {
    for (const [endpoint, ring] of this.#rings) {
      if (this.#bytes <= this.#maxBytes || ring === this.#last) return
      this.#rings.delete(endpoint)
      this.#bytes -= ring.bytes
    }
  }
}

/** Estimates the memory of an entry. Characters can have two bytes. */
function sizeOf(entry: RingEntry): number {
  let bytes = ENTRY_BYTES
  for (const key in entry) {
    const value: unknown = entry[key as keyof RingEntry]
    if (typeof value === 'string') bytes += 2 * value.length
  }
  return bytes
}

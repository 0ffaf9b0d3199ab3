/** A least-recently-used cache, limited by the number of entries and their total size. */
export class SizedCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly size: number }>()
  readonly #limits: { readonly entries: number; readonly size: number }
  #size = 0

  /** @param limits maximum number of entries, and of the sum of their sizes. */
  constructor(limits: { readonly entries: number; readonly size: number }) {
    this.#limits = limits
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Adds or replaces a value; returns the evicted keys. */
  set(key: string, value: V, size: number): string[] {
    this.#size += size - (this.#entries.get(key)?.size ?? 0)
    this.#entries.delete(key)
    this.#entries.set(key, { value, size })
    const evicted: string[] = []
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#limits.entries && this.#size <= this.#limits.size) break
      this.#entries.delete(oldest)
      this.#size -= entry.size
      evicted.push(oldest)
    }
    return evicted
  }
}

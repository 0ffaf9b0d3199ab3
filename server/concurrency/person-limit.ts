/** Limits what is in progress for each person and in total. */
export class PersonLimit {
  readonly #all: number
  readonly #ofPerson: number
  readonly #counts = new Map<string, number>()
  #count = 0

  constructor(all: number, ofPerson: number) {
    this.#all = all
    this.#ofPerson = ofPerson
  }

  /**
   * Counts one more for a person. Each that enters must call {@link leave}.
   *
   * @returns undefined, or which limit is reached.
   */
  enter(personId: string): 'person' | 'all' | undefined {
    const count = this.#counts.get(personId) ?? 0
    if (count >= this.#ofPerson) return 'person'
    if (this.#count >= this.#all) return 'all'
    this.#counts.set(personId, count + 1)
    this.#count++
    return undefined
  }

  leave(personId: string): void {
    const count = (this.#counts.get(personId) ?? 0) - 1
    if (count === 0) this.#counts.delete(personId)
    else this.#counts.set(personId, count)
    this.#count--
  }
}

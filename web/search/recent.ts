const PREFIX = 'gatehouse-found:'

/** How many are remembered. */
const MOST = 5

/** What a person has chosen in the search last, newest first, as ids; of this browser. */
export function recentIds(person: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PREFIX + person) ?? '[]')
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}

/** Remembers what a person has chosen. */
export function rememberId(person: string, id: string): void {
  const ids = [id, ...recentIds(person).filter((each) => each !== id)].slice(0, MOST)
  try {
    localStorage.setItem(PREFIX + person, JSON.stringify(ids))
  } catch {
    // Where storage is forbidden, nothing is remembered.
  }
}

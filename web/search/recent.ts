const PREFIX = 'gatehouse-found:'

/** Maximum number of remembered results. */
const MAX_RESULTS = 5

/** Returns the ids of the user's latest search results in this browser, newest first. */
export function recentIds(person: string): readonly string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(PREFIX + person) ?? '[]')
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}

/** Remembers a search result that a user chose. */
export function rememberId(person: string, id: string): void {
  const ids = [id, ...recentIds(person).filter((each) => each !== id)].slice(0, MAX_RESULTS)
  try {
    localStorage.setItem(PREFIX + person, JSON.stringify(ids))
  } catch {
    // Storage may be disabled; recent results are optional.
  }
}

import { sharedStorage } from '../shared/storage/browser-storage.ts'

const PREFIX = 'gatehouse-found:'

/** Maximum number of remembered results. */
const MAX_RESULTS = 5

/** Returns the ids of the user's latest search results in this browser, newest first. */
export function recentIds(person: string): readonly string[] {
  const ids = sharedStorage.getJson(PREFIX + person)
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

/** Remembers a search result that a user chose. */
export function rememberId(person: string, id: string): void {
  const ids = [id, ...recentIds(person).filter((each) => each !== id)].slice(0, MAX_RESULTS)
  sharedStorage.set(PREFIX + person, JSON.stringify(ids))
}

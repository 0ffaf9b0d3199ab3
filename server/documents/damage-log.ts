import type { CollectionRef } from '../storage/document-ref.ts'

/** Called for a document that is left out of a result, because its stored text is not JSON. */
export type OnDamaged = (where: CollectionRef, id: string) => void

/** The response header with the number of documents that were left out. */
export const SKIPPED_HEADER = 'Gatehouse-Skipped-Documents'

/** Maximum number of documents that are logged. */
const MAX_LOGGED = 1_000

/** Returns a function that logs each damaged document once. */
export function createDamageLog(onError: (error: unknown) => void): OnDamaged {
  const logged = new Set<string>()
  return ({ database, collection }, id) => {
    const name = JSON.stringify([database, collection, id])
    if (logged.has(name) || logged.size >= MAX_LOGGED) return
    logged.add(name)
    onError(
      new Error(`the document ${JSON.stringify(id)} of the collection ${collection} is not JSON`),
    )
  }
}

/** Returns the header for documents that were left out, if there are any. */
export const skippedHeader = (count: number): Record<string, string> =>
  count === 0 ? {} : { [SKIPPED_HEADER]: String(count) }

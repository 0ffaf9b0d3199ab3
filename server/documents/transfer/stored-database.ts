import { parseJson } from '../../contract/json/parse-json.ts'
import { type StoredPart, storedParts } from '../import/stored-part.ts'
import type { CollectionDefinition, ExportedCollection } from './read-database.ts'

/**
 * Prints a database export in parts for a job. A part is the name of a collection, a space, and some
 * of its documents, or after them its definition as JSON.
 */
export async function* storedDatabase(
  collections: AsyncIterable<ExportedCollection>,
): AsyncGenerator<StoredPart> {
  for await (const { definition, documents } of collections) {
    for await (const { text, records } of storedParts(documents)) {
      yield { text: `${definition.collection} ${text}`, records }
    }
    yield { text: `${definition.collection} ${JSON.stringify(definition)}`, records: 0 }
  }
}

/** Parses a part that {@link storedDatabase} has printed. */
export function parseDatabasePart(text: string): {
  readonly collection: string
  /** The documents as `stored-part.ts` has printed them, or the definition of the collection. */
  readonly content: string | CollectionDefinition
} {
  const end = text.indexOf(' ')
  const content = text.slice(end + 1)
  return {
    collection: text.slice(0, end),
    content: content.startsWith('[')
      ? content
      : (parseJson(content) as unknown as CollectionDefinition),
  }
}

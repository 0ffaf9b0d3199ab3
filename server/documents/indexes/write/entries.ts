import { createHash } from 'node:crypto'
import { DOCUMENT_BYTES } from '../../../contract/document.ts'
import { invariant } from '../../../contract/invariant.ts'
import type { Json } from '../../../contract/json/json.ts'
import { jsonPointer } from '../../../contract/json/json.ts'
import { printJson } from '../../../contract/json/strict-json.ts'
import { Failure } from '../../../failure.ts'
import { parseFields } from '../../json/parse-fields.ts'
import type { SortValue } from '../../query/order.ts'
import type { IndexDefinition } from '../definition.ts'
import { keyOfValues, valuesOf } from '../index-key.ts'
import type { Entry, EntryKey } from './write-entries.ts'

/** A document as JSON. */
export interface Indexed {
  readonly id: string
  readonly body: string
}

/**
 * Maximum length of the values of a document in all unique indexes together, as JSON, in characters.
 * They are hashed at once. The values in one index cannot exceed it.
 */
const UNIQUE_LENGTH = DOCUMENT_BYTES

/** The values of a document in unique indexes exceed {@link UNIQUE_LENGTH}. */
export class UniqueValuesTooLarge extends Failure {
  constructor({ fields }: IndexDefinition) {
    super(
      'invalid',
      'The values of this document in all unique indexes have more than 1 MiB together.',
      { field: jsonPointer(fields[0]?.path ?? []) },
    )
  }
}

/** Returns the entries of documents. `parsed` is undefined if a stored text is not JSON. */
export function entriesOfAll<T>(
  indexes: readonly IndexDefinition[],
  documents: readonly Indexed[],
  entriesOfDocument: (document: Indexed, parsed: Json | undefined) => Iterable<T>,
): T[] {
  const names = namesIn(indexes)
  return documents.flatMap((document) => [
    ...entriesOfDocument(document, parseFields(document.body, names)),
  ])
}

/**
 * Yields the entries of a document, one for each index.
 *
 * @param document at least its fields that the indexes have.
 * @param uniqueLength maximum length of its values in unique indexes.
 * @throws UniqueValuesTooLarge
 */
export function* entriesOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
  document = parseIndexed(body, indexes),
  uniqueLength = UNIQUE_LENGTH,
): Generator<Entry, void, void> {
  let length = 0
  for (const index of indexes) {
    const values = valuesOf(document, index.fields)
    const isExempt = !index.isUnique || values.includes(undefined)
    const print = (value: SortValue) => {
      const text = printJson(value as Json)
      length += text.length
      if (length > uniqueLength) throw new UniqueValuesTooLarge(index)
      return text
    }
    yield {
      index,
      key: keyOfValues(values, index.fields).bytes,
      id,
      // Keys of long strings, arrays and objects do not identify the values.
      uniqueKey: isExempt
        ? null
        : createHash('sha256')
            .update(`[${values.map(print).join()}]`)
            .digest(),
    }
  }
}

/** Yields the identities of the entries of a document, one for each index. */
export function* entryKeysOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
  document = parseIndexed(body, indexes),
): Generator<EntryKey, void, void> {
  for (const index of indexes) {
    const key = keyOfValues(valuesOf(document, index.fields), index.fields).bytes
    yield { index, key, id }
  }
}

/** Parses the fields of a document that indexes have. */
function parseIndexed(body: string, indexes: readonly IndexDefinition[]): Json {
  const parsed = parseFields(body, namesIn(indexes))
  invariant(parsed !== undefined, 'a document is JSON')
  return parsed
}

/** Returns the names of the top-level fields that indexes have. */
const namesIn = (indexes: readonly IndexDefinition[]): ReadonlySet<string> =>
  new Set(indexes.flatMap(({ fields }) => fields.map(({ path: [name = ''] }) => name)))

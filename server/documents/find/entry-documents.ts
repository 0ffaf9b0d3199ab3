import type { Json } from '../../contract/json/json.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { keyOfValues, valuesOf } from '../indexes/index-key.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import type { IndexEntry, IndexedDocument, IndexReader } from '../indexes/read/index-reader.ts'
import type { PageQuery } from '../query/query.ts'
import { parseFields } from '../read-fields.ts'

/** Returns whether the order of a document is unknown, because the rest of its key is truncated. */
export function isOrderUnknown({ index, rest }: IndexPlan, document: Json): boolean {
  if (rest.length === 0) return false
  return keyOfValues(valuesOf(document, rest), rest, index.fields.length).isTruncated
}

/** Returns the names of the fields that the query and the index read from a document. */
export const namesOf = (
  { index }: IndexPlan,
  { reads }: Pick<PageQuery, 'reads'>,
): ReadonlySet<string> => reads.union(new Set(index.fields.map(({ path: [name = ''] }) => name)))

const NONE: ReadonlyMap<string, IndexedDocument> = new Map()

/**
 * Reads the documents that were not read with their entries; returns undefined if the entries may be
 * incomplete.
 */
export async function readDocuments(
  reader: IndexReader,
  where: CollectionRef,
  { index }: IndexPlan,
  entries: readonly IndexEntry[],
): Promise<ReadonlyMap<string, IndexedDocument> | undefined> {
  const ids = entries.filter(({ document }) => document === undefined).map(({ id }) => id)
  if (ids.length === 0) return NONE
  const [found, isReady] = await Promise.all([
    reader.documents(where, ids),
    reader.isReady(where, index),
  ])
  return isReady ? found : undefined
}

/**
 * Returns the document of an entry, or undefined if it has changed since the entry was read, or if its
 * text is not JSON.
 */
export function currentOf(
  { index }: IndexPlan,
  { reads, onDamaged }: Pick<PageQuery, 'reads' | 'onDamaged'>,
  entry: IndexEntry,
  found: ReadonlyMap<string, IndexedDocument>,
): Current | undefined {
  const document = entry.document ?? found.get(entry.id)
  if (document === undefined) return undefined
  const parsed = parseFields(document.body, reads)
  if (parsed === undefined) {
    onDamaged?.(entry.id)
    return undefined
  }
  // A document that was read with its entry has its values.
  return entry.document !== undefined || isEntryOf(index, entry, parsed)
    ? { ...document, parsed }
    : undefined
}

type Current = IndexedDocument & { readonly parsed: Json }

/** Returns whether an entry has the key of a document. */
function isEntryOf({ fields }: IndexDefinition, { key }: IndexEntry, document: Json) {
  return keyOfValues(valuesOf(document, fields), fields).bytes.equals(key)
}

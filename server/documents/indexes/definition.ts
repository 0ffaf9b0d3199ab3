import * as z from 'zod/mini'
import { INDEX_DUPLICATES } from '../../contract/document-index.ts'
import { type ListedField, parseFieldList } from '../../contract/query/field-path.ts'
import { parseColumn, parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { DocumentIndexesTable } from '../../storage/tables.ts'

const INDEX_STATES = ['building', 'ready', 'failed', 'dropped'] as const

/** The state of an index: only a ready one serves queries. */
export type IndexState = (typeof INDEX_STATES)[number]

/** An index of a collection. Its fields never change. */
export interface IndexDefinition {
  /** Identifies the index in the table of entries. Never reused. */
  readonly id: number
  readonly name: string
  readonly fields: readonly ListedField[]
  readonly isUnique: boolean
  readonly state: IndexState
}

const FIELDS = z.array(z.string())
const STATE = z.enum(INDEX_STATES)

export type DefinitionRow = Pick<
  DocumentIndexesTable,
  'id' | 'name' | 'fields' | 'is_unique' | 'state'
>

export const toDefinition = (row: DefinitionRow): IndexDefinition => ({
  id: row.id,
  name: row.name,
  fields: parseFields(parseJsonColumn(FIELDS, 'document_indexes.fields', row.fields)),
  isUnique: row.is_unique === 1,
  state: parseColumn(STATE, 'document_indexes.state', row.state),
})

/** Parses the fields of an index, such as `-year`. */
const parseFields = (texts: readonly string[]): ListedField[] =>
  texts.flatMap((text) => parseFieldList(text, 'fields'))

/** Documents that a unique index cannot contain together. */
export type Duplicates = z.infer<typeof duplicates>

const duplicates = z.object({
  /** Ids of documents with the same values, at most {@link INDEX_DUPLICATES}. */
  ids: z.array(z.string()),
  /** Number of documents that have the values of another one. */
  excluded: z.number(),
})

/** Rows of earlier versions contain the ids only. */
const column = z.union([duplicates, z.array(z.string())])

/** Parses the duplicates of an index. */
export function parseDuplicates(row: Pick<DocumentIndexesTable, 'duplicates'>): Duplicates {
  if (row.duplicates === null) return { ids: [], excluded: 0 }
  const found = parseJsonColumn(column, 'document_indexes.duplicates', row.duplicates)
  return Array.isArray(found) ? { ids: found, excluded: found.length } : found
}

/** Returns the column of an index after more duplicates were found; null if there are none. */
export function addDuplicates(
  row: Pick<DocumentIndexesTable, 'duplicates'>,
  found: readonly { readonly first: string; readonly second: string }[],
): string | null {
  if (found.length === 0) return row.duplicates
  const { ids, excluded } = parseDuplicates(row)
  const all = new Set([...ids, ...found.flatMap(({ first, second }) => [first, second])])
  const next: Duplicates = {
    ids: [...all].slice(0, INDEX_DUPLICATES),
    excluded: excluded + found.length,
  }
  return JSON.stringify(next)
}

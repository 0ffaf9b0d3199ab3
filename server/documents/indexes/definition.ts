import * as z from 'zod/mini'
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
export const parseFields = (texts: readonly string[]): ListedField[] =>
  texts.flatMap((text) => parseFieldList(text, 'fields'))

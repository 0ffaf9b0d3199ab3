import type { DocumentIndexesTable } from '../../storage/tables.ts'
import { type ListedField, parseFieldList } from '../query/field-path.ts'

/** The state of an index: only a ready one serves queries. */
export type IndexState = 'building' | 'ready' | 'failed' | 'dropped'

/** An index of a collection. Its fields never change. */
export interface IndexDefinition {
  /** Identifies the index in the table of entries. Never reused. */
  readonly id: number
  readonly name: string
  readonly fields: readonly ListedField[]
  readonly isUnique: boolean
  readonly state: IndexState
}

/** Parses a row. */
export const toDefinition = (
  row: Pick<DocumentIndexesTable, 'id' | 'name' | 'fields' | 'is_unique' | 'state'>,
): IndexDefinition => ({
  id: row.id,
  name: row.name,
  fields: parseFields(JSON.parse(row.fields) as string[]),
  isUnique: row.is_unique === 1,
  state: row.state as IndexState,
})

/** Parses the fields of an index, such as `-year`. */
export const parseFields = (texts: readonly string[]): ListedField[] =>
  texts.flatMap((text) => parseFieldList(text, 'fields'))

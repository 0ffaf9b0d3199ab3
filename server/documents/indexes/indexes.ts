import * as z from 'zod/mini'
import { isCollectionName, RESERVED_NAMES } from '../../contract/document.ts'
import { type DocumentIndex, documentIndex } from '../../contract/document-index.ts'
import { parseFieldList, printFieldPath } from '../../contract/query/field-path.ts'
import { Failure } from '../../failure.ts'
import type { OnTargetRecord } from '../../storage/changes/recorder.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { parseColumn, parseJsonColumn } from '../../storage/sql/parse-column.ts'
import { badParameter } from '../query/filter.ts'
import { parseDuplicates } from './definition.ts'
import type { IndexInput, IndexRepository, IndexRow } from './index-repository.ts'

/** The indexes of collections. */
export interface Indexes {
  list(where: CollectionRef): Promise<DocumentIndex[]>
  /**
   * Creates an index, which is then built in the background. `created` is false if it exists. If it
   * exists and its build has failed, it is built again.
   *
   * @throws Failure `bad-parameter`, `conflict`
   */
  put(
    where: CollectionRef,
    name: string,
    input: IndexInput,
    on: OnTargetRecord,
  ): Promise<{ readonly created: boolean; readonly index: DocumentIndex }>
  /** Returns the deleted index. @throws Failure `not-found` */
  delete(where: CollectionRef, name: string, on: OnTargetRecord): Promise<DocumentIndex>
}

/** @param wake starts the build of new indexes, and the cleanup of deleted ones. */
export function createIndexes(repository: IndexRepository, wake: () => void): Indexes {
  return {
    async list(where) {
      return (await repository.list(where)).map(toDocumentIndex)
    },
    async put(where, name, { fields, unique }, on) {
      requireName(name)
      const canonical = fields.map(toCanonical)
      requireDistinct(canonical)
      if (unique) requireSeparate(canonical)
      const input = { fields: canonical, unique }
      const begun = await repository.create(where, name, input, on)
      if (begun !== undefined) {
        wake()
        return { created: !begun.isReplaced, index: toDocumentIndex(begun.row) }
      }
      const found = (await repository.list(where)).find((each) => each.name === name)
      if (found === undefined) throw notFound(name)
      return { created: false, index: toDocumentIndex(found) }
    },
    async delete(where, name, on) {
      const row = await repository.drop(where, name, on)
      if (row === undefined) throw notFound(name)
      wake()
      return toDocumentIndex(row)
    },
  }
}

const TEXTS = z.array(z.string())

function toDocumentIndex(row: IndexRow): DocumentIndex {
  const { ids, excluded } = parseDuplicates(row)
  return {
    name: row.name,
    fields: parseJsonColumn(TEXTS, 'document_indexes.fields', row.fields),
    unique: row.is_unique === 1,
    state: parseColumn(documentIndex.shape.state, 'document_indexes.state', row.state),
    progress: row.state === 'building' ? progressOf(row) : null,
    duplicates: ids,
    excluded,
  }
}

/** Documents that were created during the build may exceed the total. */
const progressOf = ({ done, total }: IndexRow): number =>
  total === null || total === 0 ? 0 : Math.min(1, done / total)

function requireName(name: string): void {
  if (isCollectionName(name)) return
  throw badParameter(
    'name',
    'The name of an index begins with a letter from a to z. Letters, digits, _ and - may follow, ' +
      `up to 64 characters. ${RESERVED_NAMES.join(', ')} are reserved.`,
  )
}

/** Returns a field as it is stored. @throws Failure `bad-parameter` */
function toCanonical(text: string, at: number): string {
  const parameter = `/fields/${at}`
  const [field, ...others] = parseFieldList(text, parameter)
  if (field === undefined || text === '' || others.length > 0) {
    throw badParameter(
      parameter,
      'Each field of an index is one name, such as year or -author.name.',
    )
  }
  return (field.isDescending ? '-' : '') + printFieldPath(field.path)
}

function requireDistinct(fields: readonly string[]): void {
  const names = fields.map((field) => field.replace(/^-/, ''))
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at)
  if (twice === -1) return
  throw badParameter(`/fields/${twice}`, `The field ${names[twice]?.slice(0, 64)} occurs twice.`)
}

/**
 * Rejects a field that is part of another one: a unique index would hash its values twice, up to once
 * for each field.
 */
function requireSeparate(fields: readonly string[]): void {
  const names = fields.map((field) => field.replace(/^-/, ''))
  const inner = names.findIndex((name) => names.some((other) => name.startsWith(`${other}.`)))
  if (inner === -1) return
  throw badParameter(
    `/fields/${inner}`,
    `The field ${names[inner]?.slice(0, 64)} is part of another field. A unique index has only one of them.`,
  )
}

const notFound = (name: string) =>
  new Failure('not-found', `The collection has no index ${JSON.stringify(name.slice(0, 64))}.`)

import type * as z from 'zod/mini'
import { isCollectionName } from '../../contract/document.ts'
import { issueReason } from '../../contract/issue-reason.ts'
import { jsonPointer } from '../../contract/json/json.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import {
  EXPORT_VERSION,
  exportEnd,
  exportedCollection,
  exportHead,
} from '../../contract/transfer.ts'
import { Failure } from '../../failure.ts'
import { DatabaseLines, misplaced } from './database-lines.ts'

/** The schema and the indexes of a collection in an export. */
export interface CollectionDefinition extends z.infer<typeof exportedCollection> {
  /** The line that defines the collection. */
  readonly line: number
}

/** A collection of an export. Its documents must be read before the next collection. */
export interface ExportedCollection {
  readonly definition: CollectionDefinition
  readonly documents: AsyncIterable<readonly ImportRecord[]>
}

/**
 * Reads the collections of a database export.
 *
 * @throws Failure `invalid` if the records are not a complete export.
 */
export async function* readDatabase(
  records: AsyncIterable<readonly ImportRecord[]>,
): AsyncGenerator<ExportedCollection, void> {
  const lines = new DatabaseLines(records)
  let collections = 0
  try {
    requireHead(await lines.next())
    for (;;) {
      const value = await lines.next()
      if (value === undefined) throw incomplete()
      const end = exportEnd.safeParse(value)
      if (end.success) {
        const expected = end.data.end
        if (collections !== expected.collections || lines.documents !== expected.documents) {
          throw incomplete()
        }
        if ((await lines.next()) !== undefined) throw misplaced(lines.last)
        return
      }
      const definition = parseDefinition(value, lines.last)
      collections++
      yield { definition, documents: lines.nextDocuments() }
    }
  } finally {
    await lines.close()
  }
}

function requireHead(value: unknown): void {
  const head = exportHead.safeParse(value)
  if (!head.success) {
    throw new Failure('invalid', 'The body is not an export of a database.', { field: '' })
  }
  if (head.data.gatehouse === EXPORT_VERSION) return
  throw new Failure(
    'invalid',
    `The export has version ${head.data.gatehouse} of its format. This server reads version ${EXPORT_VERSION}.`,
    { field: '/gatehouse' },
  )
}

/** @throws Failure `invalid`. Its field is a pointer into the line if it defines a collection. */
function parseDefinition(value: unknown, line: number): CollectionDefinition {
  const { success, data, error } = exportedCollection.safeParse(value)
  if (success && isCollectionName(data.collection)) return { ...data, line }
  const [issue] = error?.issues ?? []
  const isDefinition = typeof value === 'object' && value !== null && 'collection' in value
  if (issue === undefined || !isDefinition) throw misplaced(line)
  const field = jsonPointer(issue.path)
  const message = `Line ${line} does not define a collection. ${field}: ${issueReason(issue)}.`
  throw new Failure('invalid', message, { field })
}

const incomplete = () =>
  new Failure(
    'invalid',
    'The export is incomplete: its end is missing, or does not match the lines before it.',
  )

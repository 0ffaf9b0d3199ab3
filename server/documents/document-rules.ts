import { parseJson } from '../contract/json/parse-json.ts'
import { Failure } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import { patchDocument } from './document.ts'
import type { ImportPart } from './import/importer.ts'
import { createMatcher, type Filter, parseFilter, requiredTexts } from './query/filter.ts'
import { namesRead } from './query/query.ts'
import { parseFields } from './read-fields.ts'
import type { RecordEnd } from './record-end.ts'
import type { ScanNext } from './repository/scan-batch.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'
import type { DatabaseImporter } from './transfer/database-importer.ts'

/** The rules of imports and of audited changes for jobs. */
interface ImportRules {
  readonly importPart: ImportPart
  readonly databaseImporter: Pick<DatabaseImporter, 'part'>
  readonly recordEnd: Pick<RecordEnd, 'inTransaction' | 'now'>
}

/**
 * Returns the rules of documents for jobs (`jobs/job.ts`).
 *
 * @param scan reads documents (`repository/scan-batch.ts`).
 * @param now returns ms since 1970.
 * @param schemaOf returns the schema that validates documents before they are stored.
 */
export const createDocumentRules = (
  scan: ScanNext,
  now: () => number,
  schemaOf: CurrentSchemaOf,
  imports: ImportRules,
) => ({
  ...imports,

  /**
   * Returns the next documents after an id that may match a filter.
   *
   * @param ids the only ids to read; by default all.
   */
  candidates: (where: CollectionRef, filter: Filter, after: string, ids?: readonly string[]) =>
    scan(where, { after }, { required: requiredTexts(parseFilter(filter)), ...(ids && { ids }) }),

  /**
   * Returns a function that merges a patch into a body and validates the result by the current
   * schema, and the tag of that schema. Its failures name the document. The patch was checked when
   * its request arrived.
   */
  async merger(where: CollectionRef, text: string) {
    const patch = parseJson(text)
    const { tag, validate } = await schemaOf(where)
    const merge = async (id: string, body: string): Promise<string> => {
      try {
        const document = patchDocument({ id, body }, patch, now)
        await validate?.([document])
        return document.body
      } catch (error) {
        throw withDocumentId(id, error)
      }
    }
    return { merge, schema: tag }
  },

  /** Compiles a filter into a test of the JSON of a document. A text that is not JSON fails it. */
  matcher(filter: Filter): (body: string) => boolean | Promise<boolean> {
    if (filter.length === 0) return () => true
    const conditions = parseFilter(filter)
    const matches = createMatcher(conditions)
    const names = namesRead({ conditions, sort: [] })
    return (body) => {
      const parsed = parseFields(body, names)
      return parsed !== undefined && matches(parsed)
    }
  },
})

/** Prefixes the error's message with the document's id if the caller's request caused the error. */
function withDocumentId(id: string, error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind.status >= 500) return error
  return error.with({ message: `${JSON.stringify(id.slice(0, 64))}: ${error.message}` })
}

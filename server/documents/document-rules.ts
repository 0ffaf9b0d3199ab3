import { createTurns, runInTurns } from '../concurrency/turns.ts'
import type { Json } from '../contract/json/json.ts'
import { parseJsonInSteps } from '../contract/json/parse-json-in-steps.ts'
import { Failure } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import { toDocument } from './document.ts'
import type { ImportPart } from './import/importer.ts'
import { mergeInTurns } from './json/merge-in-turns.ts'
import { parseFieldsInTurns } from './json/parse-fields.ts'
import { createMatcher, type Filter, parseFilter } from './query/filter.ts'
import { namesRead } from './query/query.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'
import type { DatabaseImporter } from './transfer/database-importer.ts'

/** The rules of imports for jobs. */
interface ImportRules {
  readonly importPart: ImportPart
  readonly databaseImporter: Pick<DatabaseImporter, 'part' | 'recordEnd'>
}

/**
 * Returns the rules of documents for jobs (`jobs/job.ts`).
 *
 * @param now returns ms since 1970.
 * @param schemaOf returns the schema that validates documents before they are stored.
 */
export const createDocumentRules = (
  now: () => number,
  schemaOf: CurrentSchemaOf,
  imports: ImportRules,
  nextTurn = createTurns(),
) => ({
  ...imports,

  /**
   * Returns a function that merges a patch into a body and validates the result by the current
   * schema, and the tag of that schema. Its failures name the document. The patch was checked when
   * its request arrived.
   */
  async merger(where: CollectionRef, text: string) {
    const patch = await runInTurns(parseJsonInSteps(text), nextTurn)
    const { tag, validate } = await schemaOf(where)
    const merge = async (id: string, body: string): Promise<string> => {
      try {
        const { value, printed } = await mergeInTurns(body, patch, text.length, nextTurn)
        const document = toDocument(value, id, now, printed)
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
    const matchesParsed = createMatcher(conditions)
    const matches = (parsed: Json | undefined) => parsed !== undefined && matchesParsed(parsed)
    const names = namesRead({ conditions, sort: [] })
    return (body) => {
      const parsing = parseFieldsInTurns(body, names, nextTurn)
      return parsing instanceof Promise ? parsing.then(matches) : matches(parsing)
    }
  },
})

/** Prefixes the error's message with the document's id if the caller's request caused the error. */
function withDocumentId(id: string, error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind.status >= 500) return error
  return error.with({ message: `${JSON.stringify(id.slice(0, 64))}: ${error.message}` })
}

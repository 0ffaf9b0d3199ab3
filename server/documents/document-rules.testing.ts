import { createDocumentRules } from './document-rules.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'

const rejected = () => Promise.reject(new Error('an import'))

/** Returns the rules of documents for jobs. They reject imports, and by default have no schemas. */
export const createTestRules = (
  now: () => number,
  {
    schemaOf = async () => ({ tag: null }),
  }: { readonly schemaOf?: CurrentSchemaOf | undefined } = {},
) =>
  createDocumentRules(now, schemaOf, {
    importPart: rejected,
    databaseImporter: { part: rejected, recordEnd: rejected },
  })

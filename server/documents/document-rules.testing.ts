import { createDocumentRules } from './document-rules.ts'
import type { ScanNext } from './repository/scan-batch.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'

const rejected = () => Promise.reject(new Error('not available in this test'))

/** Returns the rules of documents for jobs. They reject imports, and by default have no schemas. */
export const createTestRules = (
  now: () => number,
  {
    schemaOf = async () => ({ tag: null }),
    scan = rejected,
  }: { readonly schemaOf?: CurrentSchemaOf | undefined; readonly scan?: ScanNext } = {},
) =>
  createDocumentRules(scan, now, schemaOf, {
    importPart: rejected,
    databaseImporter: { part: rejected },
    recordEnd: { inTransaction: rejected, now: rejected },
  })

import { randomBytes } from 'node:crypto'
import { createDocuments, type Documents, type DocumentsDeps } from './documents.ts'
import { ScanLimit } from './find/scan-limit.ts'
import { createCursors } from './query/cursor.ts'

/**
 * Returns the {@link Documents} of a repository. By default, all documents are valid.
 */
export const createTestDocuments = (
  deps: Pick<DocumentsDeps, 'repository' | 'now'> & Partial<DocumentsDeps>,
): Documents =>
  createDocuments({
    check: () => undefined,
    cursors: createCursors(randomBytes(32)),
    scans: new ScanLimit(),
    ...deps,
  })

import { invariant } from '../../contract/invariant.ts'
import type { DocumentRef } from '../../storage/document-ref.ts'
import type { DocumentRepository, StoredDocument } from './stored-documents.ts'

/** Returns a document, which exists. */
export async function readStored(
  repository: DocumentRepository,
  ref: DocumentRef,
): Promise<StoredDocument> {
  const found = await repository.read(ref)
  invariant(found, 'the document exists')
  return found
}

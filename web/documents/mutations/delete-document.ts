import { requireOk } from '../../api/client.ts'
import { documentClient, type StoredDocument } from '../document-client.ts'
import { readCurrent } from '../document-requests.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import { ConflictError, hasStatus } from './conflict-error.ts'

/**
 * Deletes a document if its ETag matches. Resolves with `false` if someone else deleted it first.
 *
 * @throws ConflictError if the document was changed.
 */
export async function deleteDocument(
  collectionRef: CollectionRef,
  { id, etag }: Pick<StoredDocument, 'id' | 'etag'>,
): Promise<boolean> {
  const { param, document } = documentClient(collectionRef, id)
  const headers = { 'If-Match': etag, Prefer: 'return=minimal' }
  try {
    await requireOk(document.$delete({ param }, { headers }))
    return true
  } catch (error) {
    if (!hasStatus(error, 404, 412)) throw error
    const current = await readCurrent(collectionRef, id)
    if (current !== null) throw new ConflictError(current)
    return false
  }
}

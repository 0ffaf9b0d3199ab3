import { useQueryClient } from '@tanstack/react-query'
import { requireOk } from '../../api/client.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import {
  ConflictError,
  collectionClient,
  hasStatus,
  JSON_TYPE,
  readStoredJson,
} from '../document-client.ts'
import { readSchema } from '../document-requests.ts'
import { schemaQuery } from '../queries.ts'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'

interface SchemaSave {
  readonly json: string
  /** The ETag of the schema to replace; undefined if there is none. */
  readonly etag: string | undefined
}

/** @throws ConflictError if the schema was changed. */
async function saveSchema(collectionRef: CollectionRef, { json, etag }: SchemaSave) {
  const { param, schema } = collectionClient(collectionRef)
  const condition: Record<string, string> =
    etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag }
  const headers = { ...JSON_TYPE, ...condition }
  try {
    return await readStoredJson(schema.$put({ param }, { headers, init: { body: json } }))
  } catch (error) {
    if (!hasStatus(error, 412)) throw error
    throw new ConflictError(await readSchema(collectionRef))
  }
}

/** Sets the schema of a collection. `onSaved` is called even if the component is unmounted. */
export function useSaveSchema(collectionRef: CollectionRef, { onSaved }: { onSaved: () => void }) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (save: SchemaSave) => saveSchema(collectionRef, save),
    change: () => ({
      what: `The schema of ${formatCollection(collectionRef)}`,
      done: 'saved',
    }),
    onSuccess: (saved) => {
      showToast({
        text: `Schema of ${collectionRef.collection} saved`,
        name: collectionRef.collection,
      })
      queryClient.setQueryData(schemaQuery(collectionRef).queryKey, saved)
      onSaved()
    },
  })
}

/** @throws ConflictError if the schema was changed. */
async function removeSchema(collectionRef: CollectionRef, etag: string): Promise<void> {
  const { param, schema } = collectionClient(collectionRef)
  try {
    await requireOk(schema.$delete({ param }, { headers: { 'If-Match': etag } }))
  } catch (error) {
    if (!hasStatus(error, 412)) throw error
    throw new ConflictError(await readSchema(collectionRef))
  }
}

/** Removes the schema of a collection. `onRemoved` is called even if the component is unmounted. */
export function useRemoveSchema(
  collectionRef: CollectionRef,
  { onRemoved }: { onRemoved: () => void },
) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (etag: string) => removeSchema(collectionRef, etag),
    change: () => ({
      what: `The schema of ${formatCollection(collectionRef)}`,
      done: 'removed',
    }),
    onSuccess: () => {
      showToast({
        text: `Schema of ${collectionRef.collection} removed`,
        name: collectionRef.collection,
      })
      queryClient.setQueryData(schemaQuery(collectionRef).queryKey, null)
      onRemoved()
    },
  })
}

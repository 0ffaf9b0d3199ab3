import { useMutation } from '@tanstack/react-query'
import { readJson } from '../../app/api.ts'
import { collectionClient, jobIdOf, RESPOND_ASYNC } from '../document-client.ts'
import type { CollectionRef } from '../use-documents-location.ts'

async function deleteAllDocuments(collectionRef: CollectionRef): Promise<string> {
  const { param, collection } = collectionClient(collectionRef)
  return jobIdOf(await readJson(collection.$delete({ param }, { headers: RESPOND_ASYNC })))
}

/** Starts a job that deletes all documents of a collection. Its data is the id of the job. */
export const useDeleteAllDocuments = () => useMutation({ mutationFn: deleteAllDocuments })

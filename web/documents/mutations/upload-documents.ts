import { useMutation } from '@tanstack/react-query'
import { readJson } from '../../app/api.ts'
import { collectionClient, JSON_TYPE, jobIdOf, RESPOND_ASYNC } from '../document-client.ts'
import type { CollectionRef } from '../use-documents-location.ts'

async function uploadDocuments(collectionRef: CollectionRef, array: Blob): Promise<string> {
  const { param, collection } = collectionClient(collectionRef)
  const headers = { ...JSON_TYPE, ...RESPOND_ASYNC }
  return jobIdOf(await readJson(collection.$post({ param }, { headers, init: { body: array } })))
}

/**
 * Starts a job that creates all documents of a JSON array or none. Its data is the id of the job.
 */
export const useUploadDocuments = (collectionRef: CollectionRef) =>
  useMutation({ mutationFn: (array: Blob) => uploadDocuments(collectionRef, array) })

import { useMutation } from '@tanstack/react-query'
import { deleteMatching } from '../selection/change-selected.ts'
import type { CollectionRef } from '../use-documents-location.ts'

/** Starts a job that deletes all documents of a collection. Its data is the id of the job. */
export const useDeleteAllDocuments = () =>
  useMutation({ mutationFn: (collectionRef: CollectionRef) => deleteMatching(collectionRef, []) })

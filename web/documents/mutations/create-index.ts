import { useMutation, useQueryClient } from '@tanstack/react-query'
import { readJson } from '../../app/api.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { collectionClient } from '../document-client.ts'
import { indexesQuery } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'

interface NewIndex {
  readonly name: string
  /** Fields in the form of the parameter `sort`. */
  readonly fields: readonly string[]
  readonly unique: boolean
}

async function createIndex(collectionRef: CollectionRef, { name, fields, unique }: NewIndex) {
  const { param, indexes } = collectionClient(collectionRef)
  return readJson(
    indexes[':name'].$put({
      param: { ...param, name: encodeURIComponent(name) },
      json: { fields: [...fields], unique },
    }),
  )
}

/** Creates an index, which the server builds in the background. */
export function useCreateIndex(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (index: NewIndex) => createIndex(collectionRef, index),
    onSuccess: (_, { name }) => {
      announce(`The index ${name} is being built.`)
      return queryClient.invalidateQueries(indexesQuery(collectionRef))
    },
  })
}

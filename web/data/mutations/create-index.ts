import { useQueryClient } from '@tanstack/react-query'
import { readJson } from '../../api/client.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { collectionClient } from '../document-client.ts'
import { indexesQuery } from '../queries.ts'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'

interface NewIndex {
  readonly name: string
  /** Fields in the form of the parameter `sort`. */
  readonly fields: readonly string[]
  readonly unique: boolean
}

/** The outcome in words, by the state of the index in the response. */
const OUTCOMES = { building: 'is being built', ready: 'already exists', failed: 'failed' } as const

/** Creates an index, or builds it again if its build has failed. */
async function createIndex(collectionRef: CollectionRef, { name, fields, unique }: NewIndex) {
  const { param, indexes } = collectionClient(collectionRef)
  return readJson(
    indexes[':name'].$put({
      param: { ...param, name: encodeURIComponent(name) },
      json: { fields: [...fields], unique },
    }),
  )
}

/**
 * Creates an index, which the server builds in the background. `onCreated` is called even if the
 * component is unmounted.
 */
export function useCreateIndex(
  collectionRef: CollectionRef,
  { onCreated }: { onCreated?: () => void } = {},
) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (index: NewIndex) => createIndex(collectionRef, index),
    change: ({ name }) => ({
      what: `The index ${name} of ${formatCollection(collectionRef)}`,
      done: 'created',
    }),
    onSuccess: ({ name, state }) => {
      showToast({ text: `Index ${name} ${OUTCOMES[state]}`, name })
      onCreated?.()
      return queryClient.invalidateQueries(indexesQuery(collectionRef))
    },
  })
}

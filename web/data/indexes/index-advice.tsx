import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { useHasRole } from '../../api/session/person.ts'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { findIndex, nameIndex } from '../model/query-plan.ts'
import { useCreateIndex } from '../mutations/create-index.ts'
import { indexesQuery, listKey } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'
import { IndexFields } from './index-fields.tsx'
import classes from './plan-line.module.css'

export interface IndexAdviceProps {
  readonly collectionRef: CollectionRef
  /** The fields of an index that would serve a query, in the form of `sort`. */
  readonly fields: readonly string[]
}

/** Advises to create an index, with a button for editors, and shows how far it is built. */
export function IndexAdvice({ collectionRef, fields }: IndexAdviceProps) {
  const { data: indexes } = useQuery(indexesQuery(collectionRef))
  const mayChange = useHasRole('editor')
  const create = useCreateIndex(collectionRef)
  const queryClient = useQueryClient()
  const index = findIndex(indexes ?? [], fields)
  const isReady = indexes === undefined ? undefined : index?.state === 'ready'
  const reload = useCallback(
    () => void queryClient.invalidateQueries({ queryKey: listKey(collectionRef) }),
    [queryClient, collectionRef],
  )
  const wasReady = useRef(isReady)
  useEffect(() => {
    // The query is served by the index from now on. A short build is never seen.
    if (wasReady.current === false && isReady) reload()
    wasReady.current = isReady
  }, [isReady, reload])
  if (indexes === undefined || fields.length === 0) return null
  const names = <IndexFields fields={fields} isSentence />
  if (index?.state === 'building') {
    return (
      <span>
        The index {index.name} is being built ({Math.floor((index.progress ?? 0) * 100)} %).
      </span>
    )
  }
  if (index?.state === 'ready') {
    // The query ran before, or while a job changed the documents.
    return (
      <>
        <span>The index {index.name} is available now.</span>
        <Button ref={keepFocus} variant="default" onClick={reload}>
          Reload documents
        </Button>
      </>
    )
  }
  if (!mayChange) return <span>An editor can create an index on {names}.</span>
  const run = () =>
    create.mutate({
      name: nameIndex({ fields: [...fields], unique: false }, indexes),
      fields,
      unique: false,
    })
  return (
    <>
      <span>Create an index on {names}.</span>
      <Button
        ref={keepFocus}
        variant="default"
        aria-disabled={create.isPending || undefined}
        onClick={run}
      >
        {create.isPending ? 'Creating…' : 'Create index'}
      </Button>
      {create.error !== null && (
        <span role="alert" className={classes.error}>
          {create.error.message}
        </span>
      )}
    </>
  )
}

import {
  type MutateOptions,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation,
} from '@tanstack/react-query'
import { useCallback, useRef } from 'react'

interface SingleMutationOptions<T, V> extends UseMutationOptions<T, Error, V> {
  readonly mutationFn: (variables: V) => Promise<T>
}

/**
 * `useMutation` that ignores a call while an earlier one runs. `isPending` is too late for that: it
 * changes with the next render, and a form can be submitted twice before.
 */
export function useSingleMutation<T, V = void>({
  mutationFn,
  ...options
}: SingleMutationOptions<T, V>): UseMutationResult<T, Error, V> {
  const isRunning = useRef(false)
  const mutation = useMutation({
    ...options,
    mutationFn: async (variables: V) => {
      try {
        return await mutationFn(variables)
      } finally {
        isRunning.current = false
      }
    },
  })
  const { mutate } = mutation
  const mutateOnce = useCallback(
    (variables: V, callbacks?: MutateOptions<T, Error, V>) => {
      if (isRunning.current) return
      isRunning.current = true
      mutate(variables, callbacks)
    },
    [mutate],
  )
  return { ...mutation, mutate: mutateOnce as typeof mutate }
}

import {
  type MutateOptions,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation,
} from '@tanstack/react-query'
import { useCallback, useRef } from 'react'

/**
 * `useMutation` that ignores a call while an earlier one is pending. `isPending` is too late for
 * that: it changes with the next render, and a form can be submitted twice before.
 */
export function useSingleMutation<T, V = void>(
  options: UseMutationOptions<T, Error, V>,
): UseMutationResult<T, Error, V> {
  const isPending = useRef(false)
  const mutation = useMutation({
    ...options,
    onSettled: (...settled) => {
      isPending.current = false
      return options.onSettled?.(...settled)
    },
  })
  const { mutate } = mutation
  const mutateOnce = useCallback(
    (variables: V, callbacks?: MutateOptions<T, Error, V>) => {
      if (isPending.current) return
      isPending.current = true
      mutate(variables, callbacks)
    },
    [mutate],
  )
  return { ...mutation, mutate: mutateOnce as typeof mutate }
}

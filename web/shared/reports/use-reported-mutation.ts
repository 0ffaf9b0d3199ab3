import type { UseMutationOptions } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useSingleMutation } from '../forms/use-single-mutation.ts'
import { closeReport, type RequestedChange, reportFailure } from './failure-store.ts'

interface ReportedMutationOptions<T, V> extends UseMutationOptions<T, Error, V> {
  readonly mutationFn: (variables: V) => Promise<T>
  /** Describes the change in the report of a failure. */
  readonly change: (variables: V) => RequestedChange
}

/** Mutation of a form or dialog. If it fails after that was closed, a bar reports the failure. */
export function useReportedMutation<T, V = void>(options: ReportedMutationOptions<T, V>) {
  const { mutationFn, change, ...others } = options
  const report = useFailureReporter()
  return useSingleMutation({
    ...others,
    mutationFn: async (variables: V) => {
      const onFailure = report(change(variables))
      try {
        return await mutationFn(variables)
      } catch (error) {
        onFailure(error as Error)
        throw error
      }
    },
  })
}

/**
 * Returns a function to call when a form or dialog requests a change. It returns a function to call
 * if the change fails, which reports the failure if the form was closed.
 */
export function useFailureReporter() {
  const { history } = useRouter()
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  return (change: RequestedChange) => {
    const formUrl = history.location.href
    closeReport(change.what)
    return (error: Error) => {
      if (!isOpen.current) reportFailure(change, error, formUrl)
    }
  }
}

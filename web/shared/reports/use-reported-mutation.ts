import type { UseMutationOptions } from '@tanstack/react-query'
import { useSingleMutation } from '../forms/use-single-mutation.ts'
import type { RequestedChange } from './failure-store.ts'
import { useFailureReporter } from './use-failure-reporter.ts'

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

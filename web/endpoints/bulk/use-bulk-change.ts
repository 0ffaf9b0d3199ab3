import { useQueryClient } from '@tanstack/react-query'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { showConsoleLink } from '../endpoint-toast.ts'
import type { ChangeGuard } from '../guard/check-changes.ts'
import { hasChangedOwn, startBulk } from './bulk-run.ts'
import { bulkToast } from './format-bulk.ts'
import { loadBulkBar } from './load-bulk-bar.ts'
import type { BulkPlan } from './plan-bulk.ts'

/** Starts the bulk change of a plan. Endpoints that it leaves unchanged stay selected. */
export function useBulkChange(here: string) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: () => ({ what: 'The bulk change', done: 'started' }),
    mutationFn: async ({ plan, guard }: { plan: BulkPlan; guard: ChangeGuard }) => {
      // The change disconnects this page, so the bar must be loaded before it.
      if (guard.disconnects) await loadBulkBar()
      const changes = plan.tasks.map(({ row: { address: endpoint, revision }, after }) => {
        const expect = revision === undefined ? {} : { expect: revision }
        return after === null
          ? { endpoint, remove: true as const, ...expect }
          : { endpoint, databases: [...after], ...expect }
      })
      const done = plan.skipped.flatMap(({ address, isUnchanged }) => (isUnchanged ? address : []))
      return startBulk(queryClient, changes, { done })
    },
    onSuccess: ({ ended }, { plan, guard: { disconnects, otherConsole } }) => {
      const task = disconnects ? plan.tasks.find(({ row }) => row.address === here) : undefined
      void ended.then((run) => {
        if (task === undefined || otherConsole === undefined || !hasChangedOwn(run, here)) {
          return showToast(bulkToast(queryClient, run))
        }
        // Without a connection, the change cannot be undone here.
        const { row, after } = task
        showConsoleLink({ address: row.address, before: row.databases, after }, otherConsole)
      })
    },
  })
}

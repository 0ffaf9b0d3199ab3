import { useQueryClient } from '@tanstack/react-query'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showConsoleLink } from '../endpoint-toast.ts'
import type { ChangeGuard } from '../guard/check-changes.ts'
import { wasOwnChangeMade, watchOutcome } from './bulk-outcome.ts'
import { startBulk } from './bulk-requests.ts'
import { deselectDoneAfter } from './deselect-done.ts'
import { loadBulkBar } from './load-bulk-bar.ts'
import type { BulkPlan } from './plan-bulk.ts'
import { dismissBulk } from './tracked-bulk.ts'

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
      return startBulk(queryClient, changes)
    },
    onSuccess: ({ id }, { plan, guard: { disconnects, otherConsole } }) => {
      deselectDoneAfter(id, plan)
      const task = disconnects ? plan.tasks.find(({ row }) => row.address === here) : undefined
      if (task !== undefined && otherConsole !== undefined) {
        const { row, after } = task
        const change = { address: row.address, before: row.databases, after }
        void watchOutcome(queryClient, id, { orUnreachable: true }).then((outcome) => {
          if (!wasOwnChangeMade(outcome, change)) return
          // Without a connection, the progress is unknown.
          dismissBulk([id])
          showConsoleLink(change, otherConsole)
        })
      }
    },
  })
}

import { createRoute } from '@tanstack/react-router'
import type { AuditRow } from '../../../server/contract/audit.ts'
import type { TrafficRange } from '../../../server/contract/overview.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

/** The start page. */
export const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/overview',
  validateSearch: ({ range }: Record<string, unknown>): { range?: TrafficRange } =>
    range === '24h' ? { range } : {},
  component: lazyPage(
    async () => {
      const [{ OverviewPage }, { labelOfRow }] = await Promise.all([
        import('../../overview/overview-page.tsx'),
        import('../../audit/action-labels.ts'),
      ])
      const Change = ({ row }: { row: AuditRow }) => (
        <>
          {labelOfRow(row)} <span className="mono">{row.target}</span>
        </>
      )
      return () => <OverviewPage Change={Change} />
    },
    { what: 'the overview', heading: 'Overview' },
  ),
})

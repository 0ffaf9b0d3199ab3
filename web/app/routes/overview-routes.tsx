import { createRoute } from '@tanstack/react-router'
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
      const [{ OverviewPage }, { ChangeSentence }] = await Promise.all([
        import('../../overview/overview-page.tsx'),
        import('../../shared/changes/change-sentence.tsx'),
      ])
      return () => <OverviewPage Change={ChangeSentence} />
    },
    { what: 'the overview', heading: 'Overview' },
  ),
})

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
  component: lazyPage(async () => (await import('../../overview/overview-page.tsx')).OverviewPage, {
    what: 'the overview',
    heading: 'Overview',
  }),
})

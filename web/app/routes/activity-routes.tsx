import { createRoute } from '@tanstack/react-router'
import { readActivitySearch } from '../../audit/activity-search.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const activityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: lazyPage(async () => (await import('../../audit/activity-page.tsx')).ActivityPage, {
    what: 'the activity',
    heading: 'Activity',
  }),
})

const restoreRoute = createRoute({
  getParentRoute: () => activityRoute,
  path: '/restore',
  validateSearch: (search: Record<string, unknown>) => ({
    row: typeof search.row === 'string' && /^[0-9]{1,15}$/.test(search.row) ? search.row : '0',
  }),
  component: lazyPage(
    async () => (await import('../../endpoints/restore-dialog.tsx')).RestoreDialog,
    {
      props: { path: '/activity' },
    },
  ),
})

/** The page of the audit log and its dialog. */
export const activityRoutes = [activityRoute.addChildren([restoreRoute])] as const

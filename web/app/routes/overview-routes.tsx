import { createRoute } from '@tanstack/react-router'
import { lazy, useCallback, useState } from 'react'
import type { TrafficRange } from '../../../server/contract/overview.ts'
import { useHasRole, usePresence } from '../../api/session/person.ts'
import { sharedStorage } from '../../shared/browser-storage.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import type { FirstRunDialog } from '../first-run.tsx'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

interface OverviewSearch {
  readonly range?: TrafficRange
  /** Whether the figures of each endpoint are shown. */
  readonly by?: 'endpoint'
  /** The dialog of the first steps that is open. */
  readonly add?: FirstRunDialog
}

const FirstRun = lazy(async () => ({ default: (await import('../first-run.tsx')).FirstRun }))

/**
 * The first steps, until they are done or dismissed in this browser. For admins, because others do
 * not see whether a token is used.
 */
function FirstRunOutlet() {
  const key = `gatehouse-first-run:${usePresence().person.id}`
  const [isOver, setOver] = useState(() => sharedStorage.get(key) !== undefined)
  const end = useCallback(() => {
    sharedStorage.set(key, 'over')
    setOver(true)
  }, [key])
  const isAdmin = useHasRole('admin')
  if (isOver || !isAdmin) return null
  return (
    <LazyBoundary>
      <FirstRun onEnd={end} />
    </LazyBoundary>
  )
}

/** The start page. */
export const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/overview',
  validateSearch: ({ range, by, add }: Record<string, unknown>): OverviewSearch => ({
    ...(range === '24h' && { range }),
    ...(by === 'endpoint' && { by }),
    ...((add === 'database' || add === 'endpoint' || add === 'token') && { add }),
  }),
  component: lazyPage(
    async () => {
      const [{ OverviewPage }, { ChangeSentence }] = await Promise.all([
        import('../../overview/overview-page.tsx'),
        import('../../shared/changes/change-sentence.tsx'),
      ])
      return () => <OverviewPage Change={ChangeSentence} FirstRun={FirstRunOutlet} />
    },
    { what: 'the overview', heading: 'Overview' },
  ),
})

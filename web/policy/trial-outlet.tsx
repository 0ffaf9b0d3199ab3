import { lazy, Suspense } from 'react'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { useStore } from '../ui/store.ts'
import { trialStore } from './trial.ts'

/** Loads the banner. Load it before a trial, which may lock out this page. */
export const loadTrialBanner = () => import('./trial-banner.tsx')

const TrialBanner = lazy(async () => ({ default: (await loadTrialBanner()).TrialBanner }))

/** The banner of the trial that this tab began, on every page. */
export function TrialOutlet() {
  const trial = useStore(trialStore)
  if (trial === undefined) return null
  return (
    <LazyBoundary key={trial.id}>
      <Suspense>
        <TrialBanner trial={trial} />
      </Suspense>
    </LazyBoundary>
  )
}

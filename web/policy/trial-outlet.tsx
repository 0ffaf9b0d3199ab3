import { lazy } from 'react'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { useStore } from '../ui/store.ts'
import { trialStore } from './trial.ts'

// The same chunk as the dialogs that begin a trial, which may lock out this page.
const TrialBanner = lazy(async () => ({
  default: (await import('./trial-banner.tsx')).TrialBanner,
}))

/** The banner of the trial that this tab began, on every page. */
export function TrialOutlet() {
  const trial = useStore(trialStore)
  if (trial === undefined) return null
  return (
    <LazyBoundary key={trial.id}>
      <TrialBanner trial={trial} />
    </LazyBoundary>
  )
}

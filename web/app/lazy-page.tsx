import { type ComponentType, lazy } from 'react'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton-rows.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'

interface LazyPageOptions<Props> {
  readonly props?: Props
  /** What is loaded, such as "the map". Without it, nothing is shown while loading. */
  readonly what?: string
  /** Heading of the page while it is loading, and if that fails. */
  readonly heading?: string
}

/** Returns a component whose code is loaded when it is first rendered. */
export function lazyPage<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  options: LazyPageOptions<Props> = {},
) {
  const { props = {} as Props, what, heading } = options
  const Page = lazy(async () => ({ default: await load() }))
  return () => (
    <LazyBoundary
      heading={heading}
      fallback={
        what !== undefined && (
          <>
            {heading !== undefined && <PageHead title={heading} />}
            <SkeletonRows what={what} />
          </>
        )
      }
    >
      <Page {...props} />
    </LazyBoundary>
  )
}

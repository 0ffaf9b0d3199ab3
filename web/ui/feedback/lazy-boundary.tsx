import { Component, type PropsWithChildren, type ReactNode, Suspense } from 'react'
import { LazyFailure } from './lazy-failure.tsx'

interface LazyBoundaryProps {
  /** Heading of a failure. Pass it if the part is a whole page. */
  readonly heading?: string | undefined
  /** Shown while code of the part is loading. */
  readonly fallback?: ReactNode
}

/**
 * Renders a part of the page whose code is loaded on demand. Confines a failure, such as code that
 * fails to load, to this part.
 */
export class LazyBoundary extends Component<
  PropsWithChildren<LazyBoundaryProps>,
  { failed: boolean }
> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    const { heading, fallback, children } = this.props
    if (this.state.failed) return <LazyFailure heading={heading} />
    return <Suspense fallback={fallback}>{children}</Suspense>
  }
}

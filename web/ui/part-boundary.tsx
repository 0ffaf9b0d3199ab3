import { Button } from '@mantine/core'
import { Component, type PropsWithChildren } from 'react'
import { Notice } from './notice.tsx'

/**
 * Holds a fault of one part of the page within that part, such as a chunk that a newer version of
 * the console no longer has. Loading the page anew brings the new version. A part that is a whole page
 * gives its `heading`.
 */
export class PartBoundary extends Component<
  PropsWithChildren<{ heading?: string | undefined }>,
  { failed: boolean }
> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    if (!this.state.failed) return this.props.children
    const { heading } = this.props
    return (
      <>
        {heading !== undefined && <h1>{heading}</h1>}
        <Notice
          failed
          action={
            <Button variant="filled" onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          This part of the console could not be loaded. There may be a new version of it.
        </Notice>
      </>
    )
  }
}

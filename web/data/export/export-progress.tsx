import { Button } from '@mantine/core'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import bar from '../../ui/overlay/floating-bars.module.css'
import { FloatingBar } from '../../ui/overlay/floating-bars.tsx'
import { formatBytes } from '../../ui/text/format-number.ts'
import { Advice } from '../indexes/plan-line.tsx'
import type { CollectionRef } from '../use-data-location.ts'

export interface ExportProgressProps {
  readonly collectionRef: CollectionRef
  /** Number of bytes that have arrived. */
  readonly received: number
  /** Why the export failed; null while it runs. */
  readonly error: Error | null
  readonly onCancel: () => void
}

/** Shows the progress of an export, with Cancel, or why it failed. */
export function ExportProgress(props: ExportProgressProps) {
  const { collectionRef, received, error, onCancel } = props
  const { collection } = collectionRef
  return (
    <FloatingBar>
      <section aria-label="Export" className={bar.bar}>
        <div className={bar.text} role={error === null ? undefined : 'alert'}>
          {error === null ? (
            <p>
              Exporting {collection}…{received > 0 && ` ${formatBytes(received)} received.`}
            </p>
          ) : (
            <>
              <p>
                {collection} was not exported. <span className={bar.reason}>{error.message}</span>
              </p>
              <Advice collectionRef={collectionRef} error={error} />
            </>
          )}
        </div>
        <div className={bar.actions}>
          <Button ref={keepFocus} variant="subtle" onClick={onCancel}>
            {error === null ? 'Cancel' : 'Close'}
          </Button>
        </div>
      </section>
    </FloatingBar>
  )
}

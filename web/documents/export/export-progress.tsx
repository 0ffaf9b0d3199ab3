import { Button } from '@mantine/core'
import { FloatingBar } from '../../shared/ui/overlay/floating-bars.tsx'
import bar from '../../shared/ui/overlay/undo-bar.module.css'
import { Advice } from '../indexes/plan-line.tsx'
import type { CollectionRef } from '../use-documents-location.ts'

export interface ExportProgressProps {
  readonly collectionRef: CollectionRef
  /** Why the export failed; null until its download begins. */
  readonly error: Error | null
  readonly onCancel: () => void
}

/** Shows that an export is being prepared, with Cancel, or why it failed. */
export function ExportProgress({ collectionRef, error, onCancel }: ExportProgressProps) {
  const { collection } = collectionRef
  return (
    <FloatingBar>
      <section aria-label="Export" className={bar.bar}>
        <div className={bar.text} role={error === null ? undefined : 'alert'}>
          {error === null ? (
            <p>Preparing the export of {collection}…</p>
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
          <Button variant="subtle" onClick={onCancel}>
            {error === null ? 'Cancel' : 'Close'}
          </Button>
        </div>
      </section>
    </FloatingBar>
  )
}

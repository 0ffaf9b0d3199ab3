import { Button } from '@mantine/core'
import bar from '../../shared/ui/overlay/undo-bar.module.css'
import { formatBytes } from '../../shared/ui/text/format-bytes.ts'
import { Advice } from '../indexes/plan-line.tsx'
import type { CollectionRef } from '../use-documents-location.ts'

export interface ExportProgressProps {
  readonly collectionRef: CollectionRef
  /** Number of bytes received so far. */
  readonly bytes: number
  /** Why the export failed; null while it runs. */
  readonly error: Error | null
  readonly onCancel: () => void
}

/** Shows how much of an export has arrived, with Cancel, or why it failed. */
export function ExportProgress({ collectionRef, bytes, error, onCancel }: ExportProgressProps) {
  const { collection } = collectionRef
  return (
    <section aria-label="Export" className={bar.bar}>
      <div className={bar.text} role={error === null ? undefined : 'alert'}>
        {error === null ? (
          <p>
            Exporting {collection}: {formatBytes(bytes)}
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
        <Button variant="subtle" onClick={onCancel}>
          {error === null ? 'Cancel' : 'Close'}
        </Button>
      </div>
    </section>
  )
}

import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { useHasRole } from '../api/session/person.ts'
import { useKeys } from '../shared/keys/use-keys.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { AddButton } from '../ui/form/add-button.tsx'
import { useDataLocation } from './use-data-location.ts'

/** Loads the dialogs of documents. */
export const loadDialogs = () => import('./dialogs/document-dialogs.tsx')

/**
 * Preloads the dialogs on hover or focus. Errors are ignored here; they surface when a dialog
 * opens.
 */
function preload(): void {
  loadDialogs().catch(() => {})
}

/** Button that creates a document, as N does while no field has the focus. */
export function CreateDocumentButton() {
  const { create } = useDataLocation()
  useKeys('documents', { add: create })
  return (
    <AddButton onClick={create} onPointerEnter={preload} onFocus={preload}>
      Create document
    </AddButton>
  )
}

/** Shown in place of an empty list, with a button that creates the first document. */
export function NoDocuments({ children }: PropsWithChildren) {
  const { create } = useDataLocation()
  const mayChange = useHasRole('editor')
  return (
    <Notice
      action={
        mayChange && (
          <Button variant="default" onClick={create}>
            Create the first document
          </Button>
        )
      }
    >
      {children}
    </Notice>
  )
}

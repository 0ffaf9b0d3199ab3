import type { PropsWithChildren } from 'react'
import { ConfirmDialog } from './confirm-dialog.tsx'
import type { DialogProps } from './dialog.tsx'

/**
 * Shown in place of a dialog that the URL names but that cannot be shown: its record does not exist,
 * or the role does not permit it. It leads back to the list.
 */
export function UnavailableDialog({ children, ...dialog }: PropsWithChildren<DialogProps>) {
  return (
    <ConfirmDialog {...dialog} keep="Back to the list">
      <p>{children}</p>
    </ConfirmDialog>
  )
}

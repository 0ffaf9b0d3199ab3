import type { ReactNode } from 'react'
import { NoResponse } from '../../api/client.ts'
import { TypedConfirmDialog } from '../../ui/overlay/typed-confirm-dialog.tsx'

export interface DeleteManyDialogProps {
  readonly collection: string
  readonly title: string
  /** The label of the button that deletes. */
  readonly label: string
  readonly deletion: { readonly error: Error | null; readonly isPending: boolean }
  readonly onDelete: () => void
  readonly onClose: () => void
  /** Which documents are deleted. */
  readonly children: ReactNode
}

/** Asks the user to type the name of a collection before many of its documents are deleted. */
export function DeleteManyDialog({
  collection,
  title,
  label,
  deletion: { error, isPending },
  onDelete,
  onClose,
  children,
}: DeleteManyDialogProps) {
  return (
    <TypedConfirmDialog
      title={title}
      name={collection}
      effect="delete them"
      mismatch={`Type ${collection} exactly as shown to delete its documents.`}
      keep="Keep them"
      error={
        error instanceof NoResponse
          ? `${error.message} The deletion may or may not have started. Check before you try again.`
          : (error?.message ?? '')
      }
      confirm={{ label, busy: isPending, run: onDelete }}
      onClose={onClose}
    >
      {children}
    </TypedConfirmDialog>
  )
}

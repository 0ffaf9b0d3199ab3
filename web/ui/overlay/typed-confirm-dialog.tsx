import { type PropsWithChildren, useState } from 'react'
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx'
import { isTypedName, TypedNameField } from './typed-name-field.tsx'

export interface TypedConfirmDialogProps extends ConfirmDialogProps {
  /** The name to type. It is also part of the title. */
  readonly name: string
  /** What typing the name does, such as "drop it". */
  readonly effect: string
  /** Shown if the typed name differs. */
  readonly mismatch: string
  /** Whether the name must be typed. Default: true. */
  readonly typing?: boolean
  readonly confirm: NonNullable<ConfirmDialogProps['confirm']>
}

/** A {@link ConfirmDialog} that runs its action only once the user has typed the name. */
export function TypedConfirmDialog(props: PropsWithChildren<TypedConfirmDialogProps>) {
  const { effect, mismatch, typing = true, confirm, children, ...dialog } = props
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string>()
  const run = () => {
    if (!typing || isTypedName(typed, dialog.name)) confirm.run()
    else setError(mismatch)
  }
  return (
    <ConfirmDialog {...dialog} confirm={{ ...confirm, run }}>
      {children}
      {typing && (
        <TypedNameField
          name={dialog.name}
          effect={effect}
          value={typed}
          error={error}
          data-autofocus
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            setError(undefined)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !confirm.busy) run()
          }}
        />
      )}
    </ConfirmDialog>
  )
}

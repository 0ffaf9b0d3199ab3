import { Button } from '@mantine/core'
import { type PropsWithChildren, type ReactNode, useRef } from 'react'
import { flushSync } from 'react-dom'
import classes from './confirm-dialog.module.css'
import { Dialog, type DialogProps } from './dialog.tsx'

export interface ConfirmDialogProps extends Omit<DialogProps, 'width'> {
  /** The confirm button, labelled with a verb and a noun. Omit it if the action is impossible. */
  readonly confirm?: {
    readonly label: string
    readonly busy: boolean
    readonly run: () => void
    /** Whether the action removes nothing. The button is then not red. */
    readonly harmless?: boolean
  }
  /** Label of the cancel button, such as "Keep it". */
  readonly keep: string
  /** Additional action, shown before the other buttons. */
  readonly other?: ReactNode
  /** Why the server rejected the request. */
  readonly error?: string
}

/** Asks for confirmation of an action that cannot easily be undone. */
export function ConfirmDialog(props: PropsWithChildren<ConfirmDialogProps>) {
  const { confirm, keep, other, error, children, ...dialog } = props
  const content = useRef<HTMLDivElement>(null)
  return (
    <Dialog {...dialog}>
      <div ref={content} className={classes.text}>
        {children}
      </div>
      <p role="alert" className={classes.error}>
        {error}
      </p>
      <div className={classes.actions}>
        {other}
        <Button variant="default" onClick={dialog.onClose} data-autofocus>
          {keep}
        </Button>
        {confirm !== undefined && (
          <Button
            variant={confirm.harmless === true ? 'filled' : 'danger'}
            aria-disabled={confirm.busy || undefined}
            onClick={() => {
              if (confirm.busy) return
              flushSync(confirm.run)
              content.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
            }}
          >
            {confirm.label}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

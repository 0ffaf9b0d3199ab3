import { Button } from '@mantine/core'
import type { PropsWithChildren, ReactNode } from 'react'
import classes from './confirm-dialog.module.css'
import { Dialog, type DialogProps } from './dialog.tsx'

/** What a {@link ConfirmDialog} needs. */
export interface ConfirmDialogProps extends Omit<DialogProps, 'width'> {
  /** Verb and thing: "Remove endpoint". Left out where it cannot be done: then only the way out. */
  readonly confirm?: {
    readonly label: string
    readonly busy: boolean
    readonly run: () => void
    /** Whether it takes nothing away: then its button is not red. */
    readonly harmless?: boolean
  }
  /** The way out: "Keep it". */
  readonly keep: string
  /** A further way, beside the two. */
  readonly other?: ReactNode
  /** Why the server refused. */
  readonly fault?: string
}

/** Asks before something that cannot simply be taken back: what will happen, then the way out. */
export function ConfirmDialog(props: PropsWithChildren<ConfirmDialogProps>) {
  const { confirm, keep, other, fault, children, ...dialog } = props
  return (
    <Dialog {...dialog}>
      <div className={classes.text}>{children}</div>
      <p role="alert" className={classes.fault}>
        {fault}
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
            onClick={() => confirm.busy || confirm.run()}
          >
            {confirm.label}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

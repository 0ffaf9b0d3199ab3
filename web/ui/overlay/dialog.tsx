import { Modal } from '@mantine/core'
import { type PropsWithChildren, useContext } from 'react'
import { Announcer } from '../announce.tsx'
import { WithName } from '../text/with-name.tsx'
import classes from './dialog.module.css'
import { DialogBanner } from './dialog-banner.ts'
import { useEscape } from './use-escape.ts'
import { type FindFocusTarget, useFocusReturn } from './use-focus-return.ts'

export interface DialogProps {
  readonly title: string
  /** An address, name, or id within the title, shown in monospace. */
  readonly name?: string | undefined
  /** Width in pixels. Default: 480. */
  readonly width?: number
  /**
   * Hides the header and removes the padding. The content must provide both a title and a close
   * button.
   */
  readonly bare?: boolean
  /** Called by Escape, the close button, and a click outside. */
  readonly onClose: () => void
  /** Whether a click outside leaves the dialog open. */
  readonly deliberate?: boolean
  /** Whether it covers other open dialogs, such as the search. */
  readonly palette?: boolean
  /** Returns the element to focus after closing. Default: the opener. */
  readonly returnTo?: FindFocusTarget
}

/**
 * Dialog that is open while it is mounted. Dialogs are URLs, so closing one navigates. On close,
 * the focus returns to the element that opened it.
 */
export function Dialog({
  title,
  name,
  width = 480,
  bare = false,
  deliberate = false,
  palette = false,
  onClose,
  returnTo,
  children,
}: PropsWithChildren<DialogProps>) {
  const banner = useContext(DialogBanner)
  useEscape(palette ? 'palette' : 'dialog', onClose)
  useFocusReturn(returnTo)
  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={width}
      returnFocus={false}
      closeOnClickOutside={!deliberate}
      closeOnEscape={false}
      transitionProps={{ transition: 'fade', duration: 160 }}
    >
      <Modal.Overlay backgroundOpacity={1} />
      <Modal.Content>
        {/* Mantine's own header would be a second banner landmark. */}
        <div className={bare ? 'visually-hidden' : classes.head}>
          <Modal.Title>
            <WithName text={title} name={name} />
          </Modal.Title>
          {!bare && <Modal.CloseButton aria-label="Close" />}
        </div>
        {banner}
        {bare ? children : <Modal.Body>{children}</Modal.Body>}
        <Announcer />
      </Modal.Content>
    </Modal.Root>
  )
}

/** The buttons below the content of a dialog. */
export const DialogActions = ({ children }: PropsWithChildren) => (
  <div className={classes.actions}>{children}</div>
)

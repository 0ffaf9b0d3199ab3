import { Modal } from '@mantine/core'
import { type PropsWithChildren, useEffect, useRef } from 'react'

/** What a {@link Dialog} needs. */
export interface DialogProps {
  readonly title: string
  /** Width in pixels: 480 for a question, more for a form. */
  readonly width?: number
  /** Asked by Esc, the cross and a click outside. */
  readonly onClose: () => void
  /**
   * Where the focus goes afterwards when what had it before is gone: the row of what was added,
   * the table that a row was removed from.
   */
  readonly returnTo?: () => HTMLElement | null | undefined
}

/**
 * A dialog that is open as long as it is in the page: dialogs are URLs, so closing one is going
 * elsewhere. Gives the focus back to what opened it.
 */
export function Dialog({
  title,
  width = 480,
  onClose,
  returnTo,
  children,
}: PropsWithChildren<DialogProps>) {
  useFocusReturn(returnTo)
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={width}
      returnFocus={false}
      overlayProps={{ backgroundOpacity: 1 }}
      transitionProps={{ transition: 'fade', duration: 160 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Modal>
  )
}

function useFocusReturn(returnTo: DialogProps['returnTo']): void {
  const latest = useRef(returnTo)
  latest.current = returnTo
  useEffect(() => {
    const opener = document.activeElement
    return () => {
      // After the page has drawn itself without the dialog, and only where the focus fell to the
      // body: whoever put it elsewhere on purpose keeps it.
      setTimeout(() => {
        if (document.activeElement !== document.body && document.activeElement !== null) return
        const wanted = latest.current?.()
        const back = opener instanceof HTMLElement && opener !== document.body ? opener : undefined
        const target = wanted ?? (back?.isConnected ? back : document.querySelector('main'))
        if (target instanceof HTMLElement) target.focus()
      })
    }
  }, [])
}

import { CloseButton, FocusTrap } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  type PropsWithChildren,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { useEscape } from '../overlay/use-escape.ts'
import { useLatest } from '../use-latest.ts'
import classes from './side-panel.module.css'

export interface SidePanelProps {
  /** Accessible name of the panel. Default: the title. */
  readonly label?: string
  /** Address or name of the item that the panel shows. */
  readonly title: string
  /** Whether the title is an address or a name, shown in monospace. Default: true. */
  readonly isName?: boolean
  /** Shown below the title while the content scrolls. */
  readonly head?: ReactNode
  /** Shown beside the close button. */
  readonly action?: ReactNode
  /** Called by Escape and the close button. A panel is a URL, so closing it navigates. */
  readonly onClose: () => void
  /** Returns the element to focus after closing. If null, the opener regains the focus. */
  readonly backTo: () => HTMLElement | null
}

/** Window widths without room for a panel beside the table. Keep in step with the CSS. */
const COVERS_PAGE = 'screen and (max-width: 1239px)'

/**
 * Non-modal panel beside a table with the details of one row. Without room beside the table, it
 * covers the page, is modal, and traps the focus.
 */
export function SidePanel(props: PropsWithChildren<SidePanelProps>) {
  const { label, title, isName = true, onClose } = props
  const modal = useMediaQuery(COVERS_PAGE, undefined, { getInitialValueInEffect: false })
  const heading = useRef<HTMLHeadingElement>(null)
  const id = useId()
  useFocus(heading, title, props.backTo)
  useEscape('panel', onClose)
  return (
    <>
      {modal && (
        <div
          aria-hidden="true"
          className={classes.scrim}
          // Keeps the focus in the panel, which returns it.
          onMouseDown={(event) => event.preventDefault()}
          onClick={onClose}
        />
      )}
      <FocusTrap active={modal}>
        <div
          role="dialog"
          aria-label={label}
          aria-labelledby={label === undefined ? id : undefined}
          aria-modal={modal || undefined}
          className={classes.panel}
          data-panel
        >
          <div className={classes.top}>
            <div className={classes.head}>
              <h2
                id={id}
                ref={heading}
                tabIndex={-1}
                data-autofocus
                className={isName ? `mono ${classes.title}` : classes.title}
              >
                {title}
              </h2>
              {props.action}
              <CloseButton size={24} iconSize={16} aria-label="Close the panel" onClick={onClose} />
            </div>
            {props.head}
          </div>
          <div className={classes.body} data-panel-body>
            {props.children}
          </div>
        </div>
      </FocusTrap>
    </>
  )
}

/**
 * Focuses the heading on open, and when another item replaces the element that has the focus.
 * Restores the focus on close.
 */
function useFocus(
  heading: RefObject<HTMLHeadingElement | null>,
  title: string,
  backTo: () => HTMLElement | null,
) {
  const latest = useLatest(backTo)
  // Before the first paint, so that no key press goes elsewhere.
  useLayoutEffect(() => {
    const opener = document.activeElement
    // A dialog over the page that was loaded first keeps the focus.
    const dialog = opener?.closest('[aria-modal="true"]') ?? null
    if (dialog === null) heading.current?.focus({ preventScroll: true })
    return () => {
      // Runs after the panel is removed, and only if the focus was inside it.
      setTimeout(() => {
        const now = document.activeElement
        if (now !== document.body && now !== null) return
        const before = opener instanceof HTMLElement && opener.isConnected ? opener : null
        const target = latest.current() ?? before ?? document.querySelector('main')
        target?.focus({ preventScroll: true })
      })
    }
  }, [heading, latest])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after the item has changed
  useLayoutEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [heading, title])
}

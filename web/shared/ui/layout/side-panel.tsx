import { CloseButton, FocusTrap } from '@mantine/core'
import {
  type KeyboardEvent,
  type PropsWithChildren,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { useKeys } from './keys/use-keys.ts'
import classes from './side-panel.module.css'
import { useLittleRoom } from './ui/use-little-room.ts'

/** What a {@link SidePanel} is of. */
export interface SidePanelProps {
  /** What the panel is called, where its title alone would not tell. */
  readonly label?: string
  /** The address or the name of what it is of. */
  readonly title: string
  /** What stands beside the cross. */
  readonly action?: ReactNode
  /** Asked by Esc and the cross: a panel is a URL, so closing it is going elsewhere. */
  readonly onClose: () => void
  /** Where the focus goes when it closes; null: to where it was when it opened. */
  readonly backTo: () => HTMLElement | null
}

/**
 * All that is known of one thing of a table, beside the table: it blocks nothing there. On a narrow
 * screen it fills it, and holds the focus.
 */
export function SidePanel(props: PropsWithChildren<SidePanelProps>) {
  const { label, title, onClose } = props
  const narrow = useLittleRoom()
  const heading = useRef<HTMLHeadingElement>(null)
  const id = useId()
  useFocus(heading, props.backTo)
  useKeys('anywhere', { close: () => !isSomethingOnTop() && onClose() })
  const closeByKey = (event: KeyboardEvent) => {
    // Where it holds the focus, keys of the page do not act.
    if (!narrow || event.key !== 'Escape' || event.defaultPrevented || isSomethingOnTop()) return
    event.preventDefault()
    onClose()
  }
  return (
    <FocusTrap active={narrow}>
      <div
        role="dialog"
        aria-label={label}
        aria-labelledby={label === undefined ? id : undefined}
        aria-modal={narrow || undefined}
        className={classes.panel}
        data-panel
        onKeyDown={closeByKey}
      >
        <div className={classes.head}>
          <h2
            id={id}
            ref={heading}
            tabIndex={-1}
            data-autofocus
            className={`mono ${classes.title}`}
          >
            {title}
          </h2>
          {props.action}
          <CloseButton size={24} iconSize={16} aria-label="Close the panel" onClick={onClose} />
        </div>
        <div className={classes.body}>{props.children}</div>
      </div>
    </FocusTrap>
  )
}

/** A menu or a list that is open closes first. */
const isSomethingOnTop = () => document.querySelector('[role="menu"], [role="listbox"]') !== null

/** Takes the focus when it opens, and gives it back when it closes. */
function useFocus(heading: RefObject<HTMLHeadingElement | null>, backTo: () => HTMLElement | null) {
  const latest = useRef(backTo)
  latest.current = backTo
  // Before anybody can see it, and press a key.
  useLayoutEffect(() => {
    const opener = document.activeElement
    heading.current?.focus({ preventScroll: true })
    return () => {
      // After the page has drawn itself without the panel, and only where the focus was in it.
      setTimeout(() => {
        const now = document.activeElement
        if (now !== document.body && now !== null) return
        const before = opener instanceof HTMLElement && opener.isConnected ? opener : null
        const target = latest.current() ?? before ?? document.querySelector('main')
        target?.focus({ preventScroll: true })
      })
    }
  }, [heading])
}

import { Modal } from '@mantine/core'
import {
  type PropsWithChildren,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { Announcer } from './announce.tsx'
import classes from './dialog.module.css'
import { DialogBanner } from './dialog-banner.ts'

/** What a {@link Dialog} needs. */
export interface DialogProps {
  readonly title: string
  /** What the title names, where that is an address, a name or an id: it stands in mono. */
  readonly name?: string | undefined
  /** Width in pixels: 480 for a question, more for a form. */
  readonly width?: number
  /** Without head and space of its own: what it holds says what it is, and has a way out. */
  readonly bare?: boolean
  /** Asked by Esc, the cross and a click outside. */
  readonly onClose: () => void
  /** Whether a click outside is no way out: what it shows is shown once. */
  readonly deliberate?: boolean
  /**
   * Where the focus goes afterwards, instead of back to what opened the dialog: to the row of what
   * was added, to the one beside what was removed.
   */
  readonly returnTo?: () => HTMLElement | null | undefined
}

/**
 * A dialog that is open as long as it is in the page: dialogs are URLs, so closing one is going
 * elsewhere. Gives the focus back to what opened it.
 */
export function Dialog({
  title,
  name = '',
  width = 480,
  bare = false,
  deliberate = false,
  onClose,
  returnTo,
  children,
}: PropsWithChildren<DialogProps>) {
  const banner = useContext(DialogBanner)
  const at = title.lastIndexOf(name)
  const [before, after] = at < 0 ? [title, ''] : [title.slice(0, at), title.slice(at + name.length)]
  const onTop = useOnTop()
  useFocusReturn(returnTo)
  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={width}
      returnFocus={false}
      closeOnClickOutside={!deliberate}
      closeOnEscape={onTop}
      transitionProps={{ transition: 'fade', duration: 160 }}
    >
      <Modal.Overlay backgroundOpacity={1} />
      <Modal.Content>
        {/* Mantine's own header would be a second banner of the page. */}
        <div className={bare ? 'visually-hidden' : classes.head}>
          <Modal.Title>
            {before}
            {at >= 0 && <span className="mono">{name}</span>}
            {after}
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

// Those that are open, the one on top last: Esc closes that one alone.
const open: symbol[] = []
const watchers = new Set<() => void>()

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

function useOnTop(): boolean {
  const [self] = useState(() => Symbol('dialog'))
  useEffect(() => {
    const tell = () => {
      for (const watcher of watchers) watcher()
    }
    open.push(self)
    tell()
    return () => {
      open.splice(open.indexOf(self), 1)
      tell()
    }
  }, [self])
  return useSyncExternalStore(watch, () => open.at(-1) === self)
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

import { useLayoutEffect } from 'react'
import { useLatest } from '../use-latest.ts'

/**
 * Returns the element to focus after a dialog is closed, such as the row that was added.
 *
 * @param opener the element that opened the dialog; undefined if it no longer exists.
 * @returns null or undefined for the opener.
 */
export type FindFocusTarget = (opener: HTMLElement | undefined) => HTMLElement | null | undefined

/** A removed dialog that has not returned the focus yet. */
interface Removed {
  readonly opener: HTMLElement | undefined
  readonly timer: ReturnType<typeof setTimeout>
}

let removed: Removed[] = []

/**
 * Returns the focus after the dialog is removed. If another dialog replaces it in the same render,
 * as a loaded document replaces its skeleton, that dialog returns the focus instead.
 */
export function useFocusReturn(returnTo: FindFocusTarget | undefined): void {
  const latest = useLatest(returnTo)
  // Not `useEffect`, which can run so late that both dialogs are already removed.
  useLayoutEffect(() => {
    const opener = takeOpener() ?? focusedElement()
    return () => {
      const own: Removed = {
        opener,
        timer: setTimeout(() => {
          removed = removed.filter((each) => each !== own)
          returnFocus(opener, latest.current)
        }),
      }
      removed.push(own)
    }
  }, [latest])
}

/** Cancels the pending returns. Returns the opener of the dialogs that are replaced. */
function takeOpener(): HTMLElement | undefined {
  for (const { timer } of removed) clearTimeout(timer)
  const taken = removed.find(({ opener }) => opener?.isConnected)?.opener
  removed = []
  return taken
}

/** Returns the element that has the focus; undefined if it is the body. */
function focusedElement(): HTMLElement | undefined {
  const { activeElement, body } = document
  return activeElement instanceof HTMLElement && activeElement !== body ? activeElement : undefined
}

/** Focuses an element if the focus fell back to the body; a deliberate change of focus is kept. */
function returnFocus(opener: HTMLElement | undefined, returnTo: FindFocusTarget | undefined): void {
  if (document.activeElement !== document.body && document.activeElement !== null) return
  const back = opener?.isConnected ? opener : undefined
  const target = returnTo?.(back) ?? back ?? document.querySelector('main')
  // A panel that fills a narrow screen covers the rows.
  const panel = document.querySelector<HTMLElement>('[data-panel][aria-modal]')
  if (panel === null || panel.contains(target)) target?.focus()
  else if (back !== undefined && panel.contains(back)) back.focus()
  else panel.querySelector<HTMLElement>('[data-autofocus]')?.focus()
}

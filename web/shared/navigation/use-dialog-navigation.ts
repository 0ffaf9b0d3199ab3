import {
  type AnyRouter,
  type HistoryState,
  type NavigateOptions,
  useRouter,
} from '@tanstack/react-router'
import { useMemo } from 'react'

/** A location within the console, as `navigate` takes it. */
type Target = NavigateOptions<AnyRouter>

export interface DialogNavigation {
  /** Opens a dialog or panel. */
  open(target: Target): void
  /** The `state` of a link that opens a dialog or panel. */
  opening(): HistoryState
  /** Closes the dialog or panel: goes back to a URL beneath it, or replaces it by another URL. */
  close(target: Target): void
  /** Changes the URL and keeps what is open. */
  replace(target: Target): void
}

/** Maximum number of URLs that a history entry remembers. */
const MAX_TRAIL = 20

/** Whether a step back is pending; the browser completes it asynchronously. */
let isPending = false

/** Whether the next location that is rendered keeps the scroll position. */
let keepsScroll = false

/** Returns whether a dialog is about to close. */
export const isClosing = (): boolean => isPending

/** Returns whether the router restores the scroll position. A dialog that closes keeps it. */
export function restoresScroll(): boolean {
  const restores = !keepsScroll
  keepsScroll = false
  return restores
}

/**
 * Returns functions that open and close dialogs and panels, which are URLs. The history entry of a
 * dialog remembers the URLs beneath it. Closing the dialog goes back to such a URL, so that Back
 * never reopens it. A dialog that was opened from a link is replaced instead.
 */
export function useDialogNavigation(): DialogNavigation {
  const router: AnyRouter = useRouter()
  return useMemo(() => createDialogNavigation(router), [router])
}

function createDialogNavigation(router: AnyRouter): DialogNavigation {
  const { history } = router
  const trail = () => history.location.state.trail ?? []
  const opening = () => ({
    trail: [...trail(), toKey(history.location.href)].slice(-MAX_TRAIL),
  })
  const replace = (target: Target) => {
    void router.navigate({ resetScroll: false, ...target, replace: true, state: true })
  }
  const open = (target: Target) => {
    // Going back later would undo it.
    if (isPending) addEventListener('popstate', () => setTimeout(open, 0, target), { once: true })
    else void router.navigate({ resetScroll: false, ...target, state: opening })
  }
  const close = (target: Target) => {
    // A second step back would leave the page.
    if (isPending) return
    const beneath = trail()
    const at = beneath.lastIndexOf(toKey(router.buildLocation(target).publicHref))
    if (at < 0) {
      replace(target)
      return
    }
    isPending = true
    keepsScroll = true
    addEventListener('popstate', () => (isPending = false), { once: true })
    history.go(at - beneath.length)
  }
  return { open, opening, close, replace }
}

/** Returns a URL with its parameters in a fixed order. */
function toKey(href: string): string {
  const { pathname, searchParams, hash } = new URL(href, location.origin)
  searchParams.sort()
  return `${pathname}?${searchParams}${hash}`
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The URLs of the history entries beneath a dialog or panel. */
    readonly trail?: readonly string[]
  }
}

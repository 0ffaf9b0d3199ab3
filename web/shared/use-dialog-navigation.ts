import {
  type AnyRouter,
  type HistoryState,
  type NavigateOptions,
  useRouter,
} from '@tanstack/react-router'
import { type MouseEvent, useMemo } from 'react'

/** A location within the console, as `navigate` takes it. */
type Target = NavigateOptions<AnyRouter>

export interface DialogNavigation {
  /** Opens a dialog or panel. */
  open(target: Target): void
  /** The props of a link that opens a dialog or panel. */
  readonly link: {
    readonly state: () => HistoryState
    readonly resetScroll: false
    readonly onClick: (event: MouseEvent<HTMLAnchorElement>) => void
  }
  /** Closes the dialog or panel: goes back to a URL beneath it, or replaces it by another URL. */
  close(target: Target): void
  /** Leaves a dialog for any URL: goes back to it if it is beneath, or replaces the dialog by it. */
  leave(target: Target): void
  /** Changes the URL and keeps what is open. */
  replace(target: Target): void
}

/** Maximum number of URLs that a history entry remembers. */
const MAX_TRAIL = 20

/**
 * Maximum time that a busy browser takes for a step back, ms. A step that came later would close what
 * was opened since.
 */
const STEP_TIME = 5_000

/** A step back that is pending; the browser completes it asynchronously. */
let closing: Promise<void> | undefined

/** Whether the next location that is rendered keeps the scroll position. */
let keepsScroll = false

/** Returns whether a dialog is about to close. */
export const isClosing = (): boolean => closing !== undefined

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
  const here = () => toKey(history.location.href)
  const keyOf = (target: Target) => toKey(router.buildLocation(target).publicHref)
  const open = (target: Target) => {
    // Going back later would undo it.
    if (closing !== undefined) void closing.then(() => setTimeout(open, 0, target))
    else if (keyOf(target) === here()) replace(target)
    else void router.navigate({ resetScroll: false, ...target, state: opening })
  }
  const close = (target: Target) => {
    const key = keyOf(target)
    // A second step back would leave the page, or another page was opened already.
    if (closing !== undefined || pageOf(here()) !== pageOf(key)) return
    const steps = stepsBack(trail(), key)
    if (steps === undefined) replace(target)
    else goBack(steps, () => replace(target))
  }
  const leave = (target: Target) => {
    const steps = closing === undefined ? stepsBack(trail(), keyOf(target)) : undefined
    const move = () => void router.navigate({ ...target, replace: true, state: true })
    if (steps === undefined) move()
    else goBack(steps, move)
  }
  const goBack = (steps: number, onCancelled: () => void) => {
    const before = here()
    keepsScroll = true
    closing = nextPopstate().then((isDone) => {
      closing = undefined
      // Otherwise another page has been opened, which must stay open.
      if (!isDone && here() === before) onCancelled()
    })
    history.go(-steps)
  }
  const link = {
    state: opening,
    resetScroll: false,
    onClick: (event: MouseEvent<HTMLAnchorElement>) => {
      const opensTab = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
      const isOpen = toKey(event.currentTarget.href) === here()
      if (!opensTab && isOpen) event.preventDefault()
    },
  } as const
  return { open, link, close, leave, replace }
}

/**
 * Returns the number of steps back to a URL; undefined if it is not in the trail, or if another page
 * was visited in between.
 */
function stepsBack(beneath: readonly string[], key: string): number | undefined {
  for (let steps = 1; steps <= beneath.length; steps++) {
    const each = beneath.at(-steps)
    if (each === key) return steps
    if (each === undefined || pageOf(each) !== pageOf(key)) return undefined
  }
  return undefined
}

/**
 * Waits for the next step in the history. Returns false if there is none in time: a browser cancels
 * a step if another navigation begins.
 */
function nextPopstate(): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isDone: boolean) => {
      clearTimeout(timer)
      removeEventListener('popstate', onPopstate)
      resolve(isDone)
    }
    const onPopstate = () => end(true)
    const timer = setTimeout(end, STEP_TIME, false)
    addEventListener('popstate', onPopstate)
  })
}

/** Returns the page of a URL of the console, such as `/_console/endpoints`. */
export const pageOf = (key: string): string => key.split(/[/?#]/, 3).join('/')

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

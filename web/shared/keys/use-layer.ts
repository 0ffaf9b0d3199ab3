import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'

/** A dialog that can open over any page: the search or the shortcuts. */
export type Layer = 'search' | 'keys'

/** Whether `history.back()` is pending; the browser completes it asynchronously. */
let isLeaving = false

const layerOf = (hash: string): Layer | undefined =>
  hash === 'search' || hash === 'keys' ? hash : undefined

/** Runs work after a pending `history.back()`, which would otherwise undo it. */
const afterBack = (work: () => void) =>
  addEventListener('popstate', () => setTimeout(work), { once: true })

/**
 * Returns the open layer, stored in the URL fragment so that going back closes it. `close` goes
 * back if a history step opened the layer.
 */
export function useLayer() {
  const hash = useLocation({ select: ({ hash }) => hash })
  const navigate = useNavigate()
  const { history } = useRouter()
  // The layer in the current URL, which may not be rendered yet.
  const currentLayer = () => layerOf(history.location.hash.slice(1))
  const go = (next: string, replace: boolean) =>
    void navigate({
      to: '.',
      search: true,
      hash: next,
      replace,
      resetScroll: false,
      hashScrollIntoView: false,
      state: next === '' ? {} : { layer: true },
    })
  const close = () => {
    // A second step back would leave the page.
    if (isLeaving) return
    // The URL may have been opened from a link. Going back would then leave the console.
    if (history.location.state.layer !== true) return go('', true)
    isLeaving = true
    addEventListener('popstate', () => (isLeaving = false), { once: true })
    history.back()
  }
  const open = (next: Layer) =>
    isLeaving ? afterBack(() => go(next, false)) : go(next, currentLayer() !== undefined)
  return {
    layer: layerOf(hash),
    close,
    open,
    toggle: (next: Layer) => (currentLayer() === next && !isLeaving ? close() : open(next)),
  }
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether this history entry was pushed to open a {@link Layer}. */
    layer?: true
  }
}

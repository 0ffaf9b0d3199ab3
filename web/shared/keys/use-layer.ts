import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'

/** What lies over whatever page there is: the search, and the page of keys. */
export type Layer = 'search' | 'keys'

/** Whether going back is under way, which the browser does a moment later. */
let isLeaving = false

const layerOf = (hash: string): Layer | undefined =>
  hash === 'search' || hash === 'keys' ? hash : undefined

/** Does something when it has gone back: it would be undone by that. */
const onceLeft = (work: () => void) =>
  addEventListener('popstate', () => setTimeout(work), { once: true })

/**
 * What lies over the page, as the part of the URL after `#` says it, so that going back closes it.
 * `close` goes back where that is what opened it; `toggle` opens or closes.
 */
export function useLayer() {
  const hash = useLocation({ select: ({ hash }) => hash })
  const navigate = useNavigate()
  const { history } = useRouter()
  // What lies there by now, which the page may not have drawn yet.
  const lying = () => layerOf(history.location.hash.slice(1))
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
    // A second step back would lead to another page.
    if (isLeaving) return
    // A link may lead here from anywhere: then going back would leave the console.
    if (history.location.state.layer !== true) return go('', true)
    isLeaving = true
    addEventListener('popstate', () => (isLeaving = false), { once: true })
    history.back()
  }
  const open = (next: Layer) =>
    isLeaving ? onceLeft(() => go(next, false)) : go(next, lying() !== undefined)
  return {
    layer: layerOf(hash),
    close,
    open,
    toggle: (next: Layer) => (lying() === next && !isLeaving ? close() : open(next)),
  }
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether this step of the history opened a {@link Layer}. */
    layer?: true
  }
}

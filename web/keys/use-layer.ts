import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'

/** What lies over whatever page there is: the search, and the page of keys. */
export type Layer = 'search' | 'keys'

/**
 * What lies over the page, as the part of the URL after `#` says it, so that going back closes it.
 * `close` goes back where that is what opened it; `toggle` opens or closes.
 */
export function useLayer() {
  const hash = useLocation({ select: ({ hash }) => hash })
  const navigate = useNavigate()
  const { history } = useRouter()
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
  const layer: Layer | undefined = hash === 'search' || hash === 'keys' ? hash : undefined
  const close = () => {
    // A link may lead here from anywhere: then going back would leave the console.
    if (history.location.state.layer === true) history.back()
    else go('', true)
  }
  return {
    layer,
    close,
    open: (next: Layer) => go(next, layer !== undefined),
    toggle: (next: Layer) => (layer === next ? close() : go(next, layer !== undefined)),
  }
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether this step of the history opened a {@link Layer}. */
    layer?: true
  }
}

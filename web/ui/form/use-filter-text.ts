import { useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { useUrlText } from './use-url-text.ts'

/** Pages with a filter in their URL. */
export type FilteredPage =
  | '/activity'
  | '/data'
  | '/endpoints'
  | '/endpoints/map'
  | '/endpoints/requests'

export interface FilterTextOptions {
  /** Parameter of the URL. Default: `q`. */
  readonly name?: string
  /** Debounce delay before the router is updated, in ms. Default: 0. */
  readonly rest?: number
  /** Returns whether a text can be a filter. Until then, only the field has it. Default: any. */
  readonly accepts?: (text: string) => boolean
}

const acceptAny = () => true

/**
 * Returns the text of a page's filter, stored in a URL parameter, and its setter. The setter
 * updates the address bar immediately, so that a reload or a navigation keeps the text. The router
 * is updated after the next paint, because its update is slow. A URL that did not come from this
 * hook overrides the text.
 */
export function useFilterText(
  page: FilteredPage,
  { name = 'q', rest = 0, accepts = acceptAny }: FilterTextOptions = {},
): readonly [string, (text: string) => void] {
  const router = useRouter()
  const search: Readonly<Record<string, string | undefined>> = useSearch({ from: page })
  const { text, setText, written } = useUrlText(search[name] ?? '')
  useEffect(() => {
    if (text === written.current.at(-1) || (text !== '' && !accepts(text))) return
    let timer: ReturnType<typeof setTimeout> | undefined
    // A timer that is set in an animation frame runs after the paint.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => {
        // Skip if another page was opened. A dialog of this page keeps the filter.
        // Parameters of the route are not compared.
        if (!router.latestLocation.pathname.startsWith(page.split('$', 1)[0] ?? page)) return
        written.current = text === written.current[0] ? [text] : [...written.current, text]
        void router.navigate({
          to: '.',
          search: (now) => ({ ...now, [name]: text === '' ? undefined : text }),
          // Do not push a history entry for each letter.
          replace: true,
          // Keep a layer that was opened over the page.
          hash: true,
          state: true,
          hashScrollIntoView: false,
          resetScroll: false,
        })
      }, rest)
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [router, page, name, rest, accepts, text, written])
  const change = useCallback(
    (next: string) => {
      setText(next)
      if (next === '' || accepts(next)) showInAddress(name, next)
    },
    [name, accepts, setText],
  )
  return [text, change]
}

/** Writes a parameter to the address bar, bypassing the router. Empty text deletes it. */
function showInAddress(name: string, text: string): void {
  const url = new URL(location.href)
  if (text === '') url.searchParams.delete(name)
  else url.searchParams.set(name, text)
  try {
    // The router patches `history.replaceState`; the prototype's method does not notify it.
    History.prototype.replaceState.call(history, history.state, '', url)
  } catch {
    // Safari throws after 100 calls in 10 s. The router updates the URL shortly after.
  }
}

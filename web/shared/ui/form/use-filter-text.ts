import { useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'

/** The pages that are narrowed by what is typed. */
export type FilteredPage = '/activity' | '/databases' | '/endpoints' | '/endpoints/map'

/** How a {@link useFilterText} is told. */
export interface FilterTextOptions {
  /** The parameter of the URL: `q`, where it is left out. */
  readonly name?: string
  /** How long typing rests before the router is told, ms: 0, where it is left out. */
  readonly rest?: number
}

/**
 * The text of a filter of a page, a parameter of its URL, with what changes it. What is typed is in
 * the address bar at once: a page that is loaded anew or left has it. The router is told when what
 * was drawn for it has been painted, as that takes it a while. The URL leads when it says something
 * else than what the router was told.
 */
export function useFilterText(
  page: FilteredPage,
  { name = 'q', rest = 0 }: FilterTextOptions = {},
): readonly [string, (text: string) => void] {
  const router = useRouter()
  const search: Readonly<Record<string, string | undefined>> = useSearch({ from: page })
  const url = search[name] ?? ''
  const [text, setText] = useState(url)
  /** What the URL says, and after it what the router was told and the URL does not say yet. */
  const told = useRef([url])
  useEffect(() => {
    const at = told.current.indexOf(url)
    told.current = at < 0 ? [url] : told.current.slice(at)
    if (at < 0) setText(url)
  }, [url])
  useEffect(() => {
    if (text === told.current.at(-1)) return
    let timer: ReturnType<typeof setTimeout> | undefined
    // A timer that is set in a frame comes after its painting.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => {
        // Another page may have been gone to in the meantime; a dialog of this one keeps the filter.
        if (!router.latestLocation.pathname.startsWith(page)) return
        told.current = text === told.current[0] ? [text] : [...told.current, text]
        void router.navigate({
          to: '.',
          search: (now) => ({ ...now, [name]: text === '' ? undefined : text }),
          // Each letter typed is not a step to come back to.
          replace: true,
          // What has been laid over the page meanwhile stays there.
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
  }, [router, page, name, rest, text])
  const change = useCallback(
    (next: string) => {
      setText(next)
      showInAddress(name, next)
    },
    [name],
  )
  return [text, change]
}

/** Writes a parameter into the address bar, past the router; empty takes it out. */
function showInAddress(name: string, text: string): void {
  const url = new URL(location.href)
  if (text === '') url.searchParams.delete(name)
  else url.searchParams.set(name, text)
  try {
    // The router has put a function of its own over that of `history`, by which it would be told.
    History.prototype.replaceState.call(history, history.state, '', url)
  } catch {
    // Safari refuses a hundred writes in ten seconds. The router writes the same a moment later.
  }
}

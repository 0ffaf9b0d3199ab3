import { useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'

/** The pages whose table is narrowed by what is typed. */
export type FilteredPage = '/databases' | '/endpoints' | '/endpoints/map'

/**
 * The text of the filter of a page, `q` in its URL, with what changes it. What is typed counts at
 * once, in the address bar too: a page that is loaded anew or left has it. The router is told when
 * the rows that pass have been painted, as that takes it a while. The URL leads when it says
 * something else than what the router was last told.
 */
export function useFilterText(page: FilteredPage): readonly [string, (text: string) => void] {
  const router = useRouter()
  const { q: url = '' }: { q?: string } = useSearch({ from: page })
  const [text, setText] = useState(url)
  const told = useRef(url)
  useEffect(() => {
    if (url === told.current) return
    told.current = url
    setText(url)
  }, [url])
  useEffect(() => {
    if (text === told.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    // A timer that is set in a frame comes after its painting.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => {
        // Another page may have been gone to in the meantime; a dialog of this one keeps the filter.
        if (!router.latestLocation.pathname.startsWith(page)) return
        told.current = text
        void router.navigate({
          to: '.',
          search: (now) => ({ ...now, q: text === '' ? undefined : text }),
          // Each letter typed is not a step to come back to.
          replace: true,
          resetScroll: false,
        })
      })
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [router, page, text])
  const change = useCallback((next: string) => {
    setText(next)
    showInAddress(next)
  }, [])
  return [text, change]
}

/** Writes `q` into the address bar, past the router. */
function showInAddress(text: string): void {
  const url = new URL(location.href)
  if (text === '') url.searchParams.delete('q')
  else url.searchParams.set('q', text)
  try {
    // The router has put a function of its own over that of `history`, by which it would be told.
    History.prototype.replaceState.call(history, history.state, '', url)
  } catch {
    // Safari refuses a hundred writes in ten seconds. The router writes the same a moment later.
  }
}

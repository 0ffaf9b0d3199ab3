import { useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { showInAddress } from './show-in-address.ts'

/** The pages whose table is narrowed by what is typed. */
export type FilteredPage = '/databases' | '/endpoints' | '/endpoints/map'

/**
 * The text of the filter of a page, `q` in its URL, with what changes it. What is typed counts at
 * once, in the address bar too: a page that is loaded anew or left has it. The router is told when
 * the rows that pass have been painted, as that takes it a while. The URL leads when it says
 * something else than what the router was told.
 */
export function useFilterText(page: FilteredPage): readonly [string, (text: string) => void] {
  const router = useRouter()
  const { q: url = '' }: { q?: string } = useSearch({ from: page })
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
          search: (now) => ({ ...now, q: text === '' ? undefined : text }),
          // Each letter typed is not a step to come back to.
          replace: true,
          // What has been laid over the page meanwhile stays there.
          hash: true,
          state: true,
          hashScrollIntoView: false,
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
    showInAddress('q', next)
  }, [])
  return [text, change]
}

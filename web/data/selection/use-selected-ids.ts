import { useRef, useState } from 'react'
import type { SelectRow } from '../../shared/keys/use-row-navigation.ts'
import { useUrlText } from '../../ui/form/use-url-text.ts'
import { useDataLocation } from '../use-data-location.ts'

/** What is selected: these documents, or all that match the filter. */
export interface DocumentSelection {
  readonly ids: ReadonlySet<string>
  readonly isAll: boolean
  /** How many of these documents are on other pages. */
  readonly elsewhere: number
  /** Whether the last choice was larger than a selection can be. */
  readonly isFull: boolean
}

/**
 * Returns the selected documents of the URL, and functions that change them. Documents of other
 * pages stay selected; another filter clears the selection.
 */
export function useSelectedIds(shown: readonly string[]) {
  const { search, select: setUrl } = useDataLocation()
  // A checkbox changes immediately; the router follows.
  const { text, setText, written } = useUrlText(search.selected ?? '')
  const [isFull, setIsFull] = useState(false)
  const anchor = useRef<string>(undefined)
  const isAll = text === ALL_SELECTED
  // Deselecting one of all that match leaves the others of the page.
  const ids = new Set(isAll ? shown : parseSelected(text))
  const elsewhere = [...ids].filter((id) => !shown.includes(id)).length
  const change = (next: string) => {
    setText(next)
    written.current.push(next)
    setUrl(next)
  }
  const choose = (next: Iterable<string>) => {
    const ids = [...new Set(next)]
    const fitting = fitSelected(ids)
    setIsFull(fitting.length < ids.length)
    change(formatSelected(fitting))
  }
  /** Selects or deselects a document of the page, or selects all from another to it. */
  const select: SelectRow = (index, from) => {
    const id = shown[index]
    if (id === undefined) return
    anchor.current = id
    if (from !== undefined) {
      // All that match include the documents of other pages.
      if (isAll) return
      choose([...ids, ...shown.slice(Math.min(from, index), Math.max(from, index) + 1)])
    } else choose(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id])
  }
  return {
    selection: { ids, isAll, elsewhere, isFull } satisfies DocumentSelection,
    choose,
    chooseAll: () => change(ALL_SELECTED),
    clear: () => choose([]),
    select,
    /** Selects or deselects a document. Shift extends the selection from the last one. */
    toggle: (id: string, extend: boolean) => {
      const [from, to] = [shown.indexOf(anchor.current ?? ''), shown.indexOf(id)]
      // The last one may be on another page.
      select(to, extend ? (from < 0 ? to : from) : undefined)
    },
    /** Selects all documents of the page, or deselects them if all are selected. */
    togglePage: () =>
      choose(
        shown.every((id) => ids.has(id))
          ? [...ids].filter((id) => !shown.includes(id))
          : [...ids, ...shown],
      ),
  }
}

/** Maximum number of documents to select one by one. A filter selects any number. */
const MAX_SELECTED = 500

/** Maximum length of the selected ids in the URL. Servers and proxies reject long URLs. */
const MAX_LENGTH = 8_000

/** The text for all documents that match the filter. An id is never formatted like this. */
export const ALL_SELECTED = '*'

/** Parses the ids of the selected documents, as {@link formatSelected} formats them. */
export const parseSelected = (text: string): string[] =>
  text === '' || text === ALL_SELECTED ? [] : text.split(',').flatMap(decode)

/** Formats the ids of the selected documents for the URL. */
export const formatSelected = (ids: readonly string[]): string => ids.map(encode).join(',')

/** Returns the first ids that can be selected together. */
export function fitSelected(ids: readonly string[]): readonly string[] {
  let length = 0
  const end = ids.slice(0, MAX_SELECTED).findIndex((id) => {
    // The URL encodes the text again, with the comma as three characters.
    length += encodeURIComponent(encode(id)).length + 3
    return length > MAX_LENGTH
  })
  return ids.slice(0, end < 0 ? MAX_SELECTED : end)
}

const encode = (id: string) => encodeURIComponent(id).replaceAll('*', '%2A')

function decode(part: string): string[] {
  try {
    return [decodeURIComponent(part)]
  } catch {
    return []
  }
}

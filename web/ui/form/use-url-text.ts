import { type RefObject, useEffect, useRef, useState } from 'react'

export interface UrlText {
  readonly text: string
  readonly setText: (text: string) => void
  /**
   * The text in the URL, followed by texts passed to the router that the URL does not contain yet.
   * The caller appends the texts that it passes.
   */
  readonly written: RefObject<string[]>
}

/**
 * Returns a text that is stored in a URL parameter and changes before the router updates the URL. A
 * URL that the caller did not write overrides the text.
 *
 * @param url the text in the URL.
 */
export function useUrlText(url: string): UrlText {
  const [text, setText] = useState(url)
  const written = useRef([url])
  useEffect(() => {
    const at = written.current.indexOf(url)
    written.current = at < 0 ? [url] : written.current.slice(at)
    if (at < 0) setText(url)
  }, [url])
  return { text, setText, written }
}

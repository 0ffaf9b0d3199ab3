import { useEffect, useRef, useState } from 'react'

/**
 * The text of the filter, with what changes it. What is typed counts at once; the URL follows when
 * the rows that pass have been painted, as it takes the router a while. It leads when it says
 * something else than what was last sent to it.
 *
 * @param url what the URL says.
 * @param follow writes it there; the same function each time.
 */
export function useFilterText(
  url: string,
  follow: (text: string) => void,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(url)
  const sent = useRef(url)
  useEffect(() => {
    if (url === sent.current) return
    sent.current = url
    setText(url)
  }, [url])
  useEffect(() => {
    if (text === sent.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    // A timer that is set in a frame comes after its painting.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => {
        sent.current = text
        follow(text)
      })
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [text, follow])
  return [text, setText]
}

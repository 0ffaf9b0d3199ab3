import { useEffect, useRef, useState } from 'react'

/** How long a changed row is highlighted, ms. */
const TINT_MS = 1_200

/** Returns whether the content of a row has changed in the last {@link TINT_MS}. */
export function useChangeTint(content: string): boolean {
  const last = useRef(content)
  const [changed, setChanged] = useState(false)
  useEffect(() => {
    if (last.current === content) return
    last.current = content
    setChanged(true)
    const timer = setTimeout(() => setChanged(false), TINT_MS)
    return () => {
      clearTimeout(timer)
      setChanged(false)
    }
  }, [content])
  return changed
}

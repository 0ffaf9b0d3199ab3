import { useEffect, useRef, useState } from 'react'

/** How long a changed row is highlighted, ms. */
const TINT_MS = 1_200

/** Returns whether the content of a row has changed in the last {@link TINT_MS}. */
export function useChangeTint(id: string, content: string): boolean {
  const last = useRef({ id, content })
  const [changed, setChanged] = useState(false)
  useEffect(() => {
    const before = last.current
    last.current = { id, content }
    // A different row in the same slot is not a change.
    if (before.id !== id || before.content === content) return
    setChanged(true)
    const timer = setTimeout(() => setChanged(false), TINT_MS)
    return () => {
      clearTimeout(timer)
      setChanged(false)
    }
  }, [id, content])
  return changed
}

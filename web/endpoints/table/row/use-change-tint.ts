import { useEffect, useRef, useState } from 'react'

/** How long a changed row is marked, in milliseconds. */
const TINT_MS = 1_200

/** Whether something has changed a moment ago: it says something else than when it came into sight. */
export function useChangeTint(id: string, says: string): boolean {
  const last = useRef({ id, says })
  const [changed, setChanged] = useState(false)
  useEffect(() => {
    const before = last.current
    last.current = { id, says }
    // Another in its place has not changed.
    if (before.id !== id || before.says === says) return
    setChanged(true)
    const timer = setTimeout(() => setChanged(false), TINT_MS)
    return () => {
      clearTimeout(timer)
      setChanged(false)
    }
  }, [id, says])
  return changed
}

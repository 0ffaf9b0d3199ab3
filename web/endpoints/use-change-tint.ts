import { useEffect, useRef, useState } from 'react'

/** How long a changed row is marked, in milliseconds. */
const TINT_MS = 1_200

/** Whether something has changed a moment ago: what it says is another than when it came into sight. */
export function useChangeTint(says: string): boolean {
  const last = useRef(says)
  const [changed, setChanged] = useState(false)
  useEffect(() => {
    if (last.current === says) return
    last.current = says
    setChanged(true)
    const timer = setTimeout(() => setChanged(false), TINT_MS)
    return () => {
      clearTimeout(timer)
      setChanged(false)
    }
  }, [says])
  return changed
}

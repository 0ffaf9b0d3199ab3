import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * Returns a ref to the value of the last render that is on screen, for listeners that are added
 * only once.
 */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  // A layout effect, so that no event sees the value of an earlier render.
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}

import { useEffect } from 'react'

/**
 * Sets the page's title from its parts, most specific first: "2 failed · Endpoints · Gatehouse".
 */
export function usePageTitle(...parts: readonly (string | false)[]): void {
  const title = [...parts.filter((part) => part !== false), 'Gatehouse'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}

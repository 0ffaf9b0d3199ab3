import { useEffect } from 'react'

/** Sets the title of the page from its parts, the nearest first: "2 failed · Endpoints · Gatehouse". */
export function usePageTitle(...parts: readonly (string | false)[]): void {
  const title = [...parts.filter((part) => part !== false), 'Gatehouse'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}

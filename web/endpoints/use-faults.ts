import { useCallback, useState } from 'react'
import type { EndpointDraft, Faults } from './endpoint-draft.ts'

/** The faults of a form. `raised` counts the times they were shown: the first then gets the focus. */
export function useFaults() {
  const [{ faults, raised }, setState] = useState<{ faults: Faults; raised: number }>({
    faults: {},
    raised: 0,
  })
  return {
    faults,
    raised,
    /** Shows these faults in place of the former; tells whether there are any. */
    raise: useCallback((next: Faults): boolean => {
      const any = Object.keys(next).length > 0
      setState((now) => ({ faults: next, raised: any ? now.raised + 1 : now.raised }))
      return any
    }, []),
    /** Takes away the faults of what is being changed; those of other fields stay. */
    touch: useCallback((change: Partial<EndpointDraft>) => {
      setState((now) => ({ ...now, faults: withoutTouched(now.faults, change) }))
    }, []),
  }
}

function withoutTouched(faults: Faults, change: Partial<EndpointDraft>): Faults {
  const left = { ...faults }
  delete left.form
  const address = 'scheme' in change || 'host' in change || 'port' in change || 'path' in change
  // Whether a port is taken depends on the host, and so on: an address is judged as one.
  if (address) for (const field of ['scheme', 'host', 'port', 'path'] as const) delete left[field]
  if ('reach' in change || 'names' in change || 'typing' in change) delete left.databases
  return left
}

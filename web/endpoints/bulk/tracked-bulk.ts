import { useSyncExternalStore } from 'react'

/** The bulk changes that this page shows. */
export interface TrackedBulk {
  /** Started on this page, seen while they ran, or the undo of one of these. */
  readonly ids: ReadonlySet<string>
  /** Dismissed by the user. */
  readonly closed: ReadonlySet<string>
  /** Shown by the page content instead of the bar. */
  readonly onPage: string | undefined
}

let now: TrackedBulk = { ids: new Set(), closed: new Set(), onPage: undefined }
const listeners = new Set<() => void>()

function become(next: Partial<TrackedBulk>): void {
  now = { ...now, ...next }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useTrackedBulk = (): TrackedBulk => useSyncExternalStore(subscribe, () => now)

/** Keeps showing a bulk change after it has ended. */
export function trackBulk(id: string): void {
  if (!now.ids.has(id)) become({ ids: new Set([...now.ids, id]) })
}

/** Stops showing bulk changes. */
export const dismissBulk = (ids: readonly string[]): void =>
  become({ closed: new Set([...now.closed, ...ids]) })

/** Shows a bulk change in the page content instead of the bar; undefined shows all in the bar. */
export const showBulkOnPage = (id: string | undefined): void => become({ onPage: id })

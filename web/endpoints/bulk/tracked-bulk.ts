import { createStore, useStore } from '../../shared/ui/store/store.ts'

/** The bulk changes that this page shows. */
export interface TrackedBulk {
  /** Started on this page, seen while they ran, or the undo of one of these. */
  readonly ids: ReadonlySet<string>
  /** Dismissed by the user. */
  readonly closed: ReadonlySet<string>
  /** Shown by the page content instead of the bar. */
  readonly onPage: string | undefined
}

const tracked = createStore<TrackedBulk>({ ids: new Set(), closed: new Set(), onPage: undefined })

const change = (part: Partial<TrackedBulk>) => tracked.set({ ...tracked.get(), ...part })

export const useTrackedBulk = (): TrackedBulk => useStore(tracked)

/** Keeps showing a bulk change after it has ended. */
export function trackBulk(id: string): void {
  const { ids } = tracked.get()
  if (!ids.has(id)) change({ ids: new Set([...ids, id]) })
}

/** Stops showing bulk changes. */
export const dismissBulk = (ids: readonly string[]): void =>
  change({ closed: new Set([...tracked.get().closed, ...ids]) })

/** Shows a bulk change in the page content instead of the bar; undefined shows all in the bar. */
export const showBulkOnPage = (id: string | undefined): void => change({ onPage: id })

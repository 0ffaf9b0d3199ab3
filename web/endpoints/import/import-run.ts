import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { endpointsQuery, listenersQuery } from '../queries.ts'
import { orderChanges } from './import-order.ts'
import type { ImportChange } from './import-plan.ts'
import { type ChangesEnd, makeChanges } from './make-changes.ts'
import { isInterruption, sendChange } from './send-change.ts'

/** An import that runs, or how it ended. It goes on while another page of the console is open. */
export interface ImportRun {
  readonly changes: readonly ImportChange[]
  /** How many were made. */
  readonly made: number
  /** Why others were not, by address. */
  readonly failures: ReadonlyMap<string, string>
  readonly stopping: boolean
  /** `undefined` while it runs. */
  readonly end: ChangesEnd | undefined
  /** Whether what is configured was read anew afterwards, so that it can be compared. */
  readonly compared: boolean
}

/** So many changes are under way at once. */
const WIDTH = 8

let current: ImportRun | undefined
let stop = new AbortController()
const listeners = new Set<() => void>()

function set(next: ImportRun | undefined): void {
  current = next
  for (const listener of listeners) listener()
}

const change = (part: Partial<ImportRun>) => current && set({ ...current, ...part })

/** The import of this page, if there is one. */
export const useImportRun = (): ImportRun | undefined =>
  useSyncExternalStore(subscribe, () => current)

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Starts an import; resolves with how it went, when it has ended. */
export async function startImport(
  changes: readonly ImportChange[],
  options: {
    readonly queryClient: QueryClient
    /** The endpoint through which this page came. */
    readonly here: string | undefined
    readonly removeAnyway: boolean
  },
): Promise<ImportRun | undefined> {
  if (current !== undefined && current.end === undefined) return current
  stop = new AbortController()
  const begun = { made: 0, failures: new Map(), stopping: false, end: undefined, compared: false }
  set({ changes, ...begun })
  const end = await makeChanges({
    groups: orderChanges(changes, options.here),
    send: sendChange,
    interrupts: isInterruption,
    settled: ({ address }, error) => {
      if (current === undefined) return
      if (error === undefined) change({ made: current.made + 1 })
      else change({ failures: new Map(current.failures).set(address, error.message) })
    },
    stop: stop.signal,
    width: WIDTH,
    removeAnyway: options.removeAnyway,
  })
  const compared = await readAnew(options.queryClient)
  change({ end, compared })
  return current
}

/** Begins no other change; those under way are waited for. */
export function stopImport(): void {
  stop.abort()
  change({ stopping: true })
}

/** Reads what is configured, to compare again what an import has left. */
export async function compareAgain(queryClient: QueryClient): Promise<void> {
  if (await readAnew(queryClient)) change({ compared: true })
}

/** Forgets how the last import ended. */
export const forgetImport = (): void => set(undefined)

const readAnew = (queryClient: QueryClient): Promise<boolean> =>
  Promise.all([
    queryClient.fetchQuery({ ...endpointsQuery, staleTime: 0 }),
    queryClient.fetchQuery({ ...listenersQuery, staleTime: 0 }),
  ]).then(
    () => true,
    () => false,
  )

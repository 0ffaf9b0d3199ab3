import { useSyncExternalStore } from 'react'
import { usePresence } from '../../api/session/person.ts'
import { tabStorage } from '../browser-storage.ts'

const PREFIX = 'gatehouse-draft:'

/** A draft and the time at which it was stored, in milliseconds since the Unix epoch. */
export interface StoredDraft<T> {
  readonly at: number
  readonly values: T
}

/**
 * A form draft in `sessionStorage`, where it survives a new sign-in, which leaves the page, a reload
 * and a crash. Forms also work without storage. Never use it for secrets.
 */
export interface DraftStorage<T> {
  /** Returns the stored draft, if there is one with the fields of the initial values. */
  readonly read: () => StoredDraft<T> | undefined
  /** Stores a draft, or deletes the stored one if the draft equals the initial values. */
  readonly store: (draft: T) => void
  readonly remove: () => void
  /** Deletes the draft because another page is opened. It is kept if that page cannot be loaded. */
  readonly leave: () => void
}

/**
 * Returns the storage of a person's draft.
 *
 * @param form identifies the form.
 */
export function draftStorage<T extends object>(
  person: string,
  form: string,
  initialValues: T,
): DraftStorage<T> {
  const key = `${PREFIX}${person}:${form}`
  return {
    read: () => read(key, initialValues),
    store: (draft) => {
      if (isSame(draft, initialValues)) remove(key)
      else store(key, draft)
    },
    remove: () => remove(key),
    leave: () => {
      const text = tabStorage.get(key)
      left = text === undefined ? undefined : { key, text, at: Date.now() }
      remove(key)
    },
  }
}

/** Maximum time in which the code of a page fails to load, ms. */
const LOAD_MS = 60_000

/** The last draft that was deleted because another page was opened. */
let left: { readonly key: string; readonly text: string; readonly at: number } | undefined

globalThis.addEventListener?.('vite:preloadError', () => {
  if (left === undefined || Date.now() - left.at > LOAD_MS) return
  tabStorage.set(left.key, left.text)
  notify()
})

const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function notify(): void {
  for (const listener of listeners) listener()
}

/** Returns whether this tab stores any draft of the person who opened the page. */
export function useHasDrafts(): boolean {
  const { person } = usePresence()
  return useSyncExternalStore(subscribe, () => keysOf(person.id).length > 0)
}

/** Deletes all drafts of a person. */
export function clearDrafts(person: string): void {
  for (const key of keysOf(person)) remove(key)
}

const keysOf = (person: string) =>
  tabStorage.keys().filter((key) => key.startsWith(`${PREFIX}${person}:`))

function store(key: string, draft: object): void {
  tabStorage.set(key, JSON.stringify({ at: Date.now(), values: draft }))
  notify()
}

function remove(key: string): void {
  tabStorage.remove(key)
  notify()
}

function read<T extends object>(key: string, initialValues: T): StoredDraft<T> | undefined {
  const { at, values } = (tabStorage.getJson(key) ?? {}) as Partial<StoredDraft<unknown>>
  if (typeof at === 'number' && hasShape(values, initialValues)) {
    return { at, values: { ...initialValues, ...values } }
  }
  // A draft may be stored by another version of the console. Listeners are not notified, because
  // this runs during render.
  tabStorage.remove(key)
  return undefined
}

const isSame = <T extends object>(draft: T, initialValues: T): boolean =>
  Object.entries(initialValues).every(([key, field]) => {
    const now = (draft as Record<string, unknown>)[key]
    return (
      now === field || (typeof field === 'object' && JSON.stringify(now) === JSON.stringify(field))
    )
  })

const hasShape = <T extends object>(value: unknown, initialValues: T): value is T =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(initialValues).every(
    ([key, field]) =>
      field === undefined ||
      (typeof field === typeof (value as Record<string, unknown>)[key] &&
        Array.isArray(field) === Array.isArray((value as Record<string, unknown>)[key])),
  )

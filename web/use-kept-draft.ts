import { useEffect, useState, useSyncExternalStore } from 'react'
import { usePresence } from './person.ts'

const PREFIX = 'gatehouse-draft:'

/** A draft that outlives its page. */
export interface KeptDraft<T> {
  readonly draft: T
  readonly change: (part: Partial<T>) => void
  /** Whether it was found, typed before the form was left. */
  readonly restored: boolean
  /** Drops what is kept: the form is done with. */
  readonly forget: () => void
  /** Drops it, and begins again. */
  readonly startAfresh: () => void
}

/**
 * The draft of a form, kept in this tab (`sessionStorage`) until it is forgotten: signing in again
 * leaves the page, and a form is closed by a key or a click beside it. What is as it was at the
 * beginning is not kept. Whoever signs in as another person finds nothing, and takes nothing away. Never for
 * secrets.
 *
 * @param key tells the forms apart.
 * @param begin what the form begins with; what is kept must have the same fields.
 */
export function useKeptDraft<T extends object>(key: string, begin: T): KeptDraft<T> {
  const { person } = usePresence()
  const place = `${PREFIX}${person.id}:${key}`
  const [{ draft, typed, restored }, setState] = useState(() => {
    const kept = read(place, begin)
    return { draft: kept ?? begin, typed: false, restored: kept !== undefined }
  })
  const changed = !isSame(draft, begin)
  useEffect(() => {
    if (!typed) return
    if (changed) keep(place, draft)
    else drop(place)
  }, [typed, changed, place, draft])
  const forget = () => drop(place)
  return {
    draft,
    restored,
    forget,
    change: (part) =>
      setState((now) => ({ ...now, draft: { ...now.draft, ...part }, typed: true })),
    startAfresh: () => {
      forget()
      setState({ draft: begin, typed: false, restored: false })
    },
  }
}

const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tellAll(): void {
  for (const listener of listeners) listener()
}

/** Whether anything of whoever opened the page is kept in this tab. */
export function useAnythingKept(): boolean {
  const { person } = usePresence()
  return useSyncExternalStore(subscribe, () => keptPlaces(person.id).length > 0)
}

/** Drops everything that is kept of a person: after signing out. */
export function forgetDrafts(person: string): void {
  for (const place of keptPlaces(person)) drop(place)
}

// Storage may be forbidden; then nothing is kept, and everything else works.
function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action()
  } catch {
    return otherwise
  }
}

const keptPlaces = (person: string) =>
  attempt(
    () => Object.keys(sessionStorage).filter((place) => place.startsWith(`${PREFIX}${person}:`)),
    [],
  )

function keep(place: string, draft: object): void {
  attempt(() => sessionStorage.setItem(place, JSON.stringify(draft)), undefined)
  tellAll()
}

function drop(place: string): void {
  attempt(() => sessionStorage.removeItem(place), undefined)
  tellAll()
}

function read<T extends object>(place: string, begin: T): T | undefined {
  const text = attempt(() => sessionStorage.getItem(place), null)
  if (text === null) return undefined
  const kept = attempt<unknown>(() => JSON.parse(text), undefined)
  if (hasShape(kept, begin)) return { ...begin, ...kept }
  // Of another version of the console. Quietly: this is asked while drawing.
  attempt(() => sessionStorage.removeItem(place), undefined)
  return undefined
}

const isSame = <T extends object>(draft: T, begin: T): boolean =>
  Object.entries(begin).every(([key, field]) => {
    const now = (draft as Record<string, unknown>)[key]
    return (
      now === field || (typeof field === 'object' && JSON.stringify(now) === JSON.stringify(field))
    )
  })

const hasShape = <T extends object>(value: unknown, begin: T): value is T =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(begin).every(
    ([key, field]) =>
      field === undefined ||
      (typeof field === typeof (value as Record<string, unknown>)[key] &&
        Array.isArray(field) === Array.isArray((value as Record<string, unknown>)[key])),
  )

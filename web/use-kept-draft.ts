import { useEffect, useState, useSyncExternalStore } from 'react'
import { usePresence } from './person.ts'

const PREFIX = 'gatehouse-draft:'

interface Kept {
  readonly person: string
  readonly draft: unknown
}

/** A draft that outlives its page. */
export interface KeptDraft<T> {
  readonly draft: T
  readonly change: (part: Partial<T>) => void
  /** Whether it was found, typed before a sign-in or a reload. */
  readonly restored: boolean
  /** Drops what is kept: the form is done with. */
  readonly forget: () => void
  /** Drops it, and begins again. */
  readonly startAfresh: () => void
}

/**
 * The draft of a form, kept in this tab (`sessionStorage`) until it is forgotten: signing in again
 * leaves the page. Whoever signs in as another person finds nothing. Never for secrets.
 *
 * @param key tells the forms apart.
 * @param begin what the form begins with; what is kept must have the same fields.
 */
export function useKeptDraft<T extends object>(key: string, begin: T): KeptDraft<T> {
  const { person } = usePresence()
  const place = PREFIX + key
  const [{ draft, typed, restored }, setState] = useState(() => {
    const kept = read(place, person.id, begin)
    return { draft: kept ?? begin, typed: false, restored: kept !== undefined }
  })
  useEffect(() => {
    if (typed) keep(place, { person: person.id, draft })
  }, [typed, place, person.id, draft])
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

/** Whether anything is kept in this tab. */
export const useAnythingKept = (): boolean =>
  useSyncExternalStore(subscribe, () => keptPlaces().length > 0)

/** Drops everything that is kept: after signing out. */
export function forgetDrafts(): void {
  for (const place of keptPlaces()) drop(place)
}

// Storage may be forbidden; then nothing is kept, and everything else works.
function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action()
  } catch {
    return otherwise
  }
}

const keptPlaces = () =>
  attempt(() => Object.keys(sessionStorage).filter((place) => place.startsWith(PREFIX)), [])

function keep(place: string, kept: Kept): void {
  attempt(() => sessionStorage.setItem(place, JSON.stringify(kept)), undefined)
  tellAll()
}

function drop(place: string): void {
  attempt(() => sessionStorage.removeItem(place), undefined)
  tellAll()
}

function read<T extends object>(place: string, person: string, begin: T): T | undefined {
  const text = attempt(() => sessionStorage.getItem(place), null)
  if (text === null) return undefined
  const kept = attempt(() => JSON.parse(text) as Partial<Kept>, {})
  if (kept.person === person && hasShape(kept.draft, begin)) return { ...begin, ...kept.draft }
  // Of another person, or of another version of the console. Quietly: this is asked while drawing.
  attempt(() => sessionStorage.removeItem(place), undefined)
  return undefined
}

const hasShape = <T extends object>(value: unknown, begin: T): value is T =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(begin).every(
    ([key, field]) =>
      field === undefined ||
      (typeof field === typeof (value as Record<string, unknown>)[key] &&
        Array.isArray(field) === Array.isArray((value as Record<string, unknown>)[key])),
  )

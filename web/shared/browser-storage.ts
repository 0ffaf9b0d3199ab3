/**
 * Texts by key in the browser. A browser may block its storage, and the storage may be full: then
 * nothing is stored, and no method throws.
 */
export interface BrowserStorage {
  /** Returns a stored text; undefined if there is none. */
  readonly get: (key: string) => string | undefined
  /** Returns a stored JSON value; undefined if there is none, or if the text is not JSON. */
  readonly getJson: (key: string) => unknown
  /** Stores a text. Returns whether it is stored. */
  readonly set: (key: string, text: string) => boolean
  /** Removes a text. Returns whether it is removed. */
  readonly remove: (key: string) => boolean
  readonly keys: () => readonly string[]
}

/** @param open returns the storage. It throws if the browser blocks it. */
export function createBrowserStorage(open: () => Storage): BrowserStorage {
  const get = (key: string) => attempt(() => open().getItem(key), null) ?? undefined
  return {
    get,
    getJson: (key) => attempt<unknown>(() => JSON.parse(get(key) ?? ''), undefined),
    set: (key, text) =>
      attempt(() => {
        open().setItem(key, text)
        return true
      }, false),
    remove: (key) =>
      attempt(() => {
        open().removeItem(key)
        return true
      }, false),
    keys: () => attempt(() => Object.keys(open()), []),
  }
}

function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action()
  } catch {
    return otherwise
  }
}

/** `localStorage`, which all tabs share. */
export const sharedStorage: BrowserStorage = createBrowserStorage(() => localStorage)

/** `sessionStorage`, which belongs to this tab. */
export const tabStorage: BrowserStorage = createBrowserStorage(() => sessionStorage)

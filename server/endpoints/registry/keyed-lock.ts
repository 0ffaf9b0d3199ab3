/** Runs `task` after every earlier task of the same key has ended; keys do not wait for each other. */
export type KeyedLock = <T>(key: string, task: () => Promise<T>) => Promise<T>

/** Makes a {@link KeyedLock}. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(task)
    const tail = result
      .catch(() => {})
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key)
      })
    tails.set(key, tail)
    return result
  }
}

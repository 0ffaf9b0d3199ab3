import { sql } from 'kysely'
import type { Store } from '../storage/store.ts'

/** Delay between the first recorded use and the write of its batch, ms. */
export const FLUSH_DELAY = 1_000

/** Maximum number of pending uses of each kind. Beyond it, the oldest is dropped. */
export const MAX_WAITING = 10_000

/** Maximum number of uses per statement. Both engines limit the parameters of a statement. */
const PER_STATEMENT = 1_000

/**
 * Stores the last use of sessions and tokens in batches, so that requests don't wait for the write.
 */
export interface LastUseRecorder {
  /** Records the use of a session, identified by the hash of its secret. */
  session(hash: string, at: number): void
  /** Returns the last use of a session that is not stored yet, ms since 1970. */
  sessionUse(hash: string): number | undefined
  /** Records the use of a token, identified by its id. */
  token(id: string, at: number): void
  /** Returns the last use of a token that is not stored yet, ms since 1970. */
  tokenUse(id: string): number | undefined
  /** Stores the pending uses. On failure, calls `onError` and keeps them for the next attempt. */
  flush(): Promise<void>
  /** Flushes one last time; nothing is stored afterwards. */
  stop(): Promise<void>
}

/**
 * Creates a {@link LastUseRecorder}.
 *
 * @param onError called for the first failed flush; not again until a flush succeeds.
 * @param delay see {@link FLUSH_DELAY}.
 */
export function createLastUseRecorder(
  { db }: Pick<Store, 'db'>,
  onError: (error: unknown) => void,
  delay = FLUSH_DELAY,
): LastUseRecorder {
  const sessions = new Map<string, number>()
  const tokens = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let failing = false
  let stopped = false

  function note(uses: Map<string, number>, key: string, at: number): void {
    const [oldest] = uses.keys()
    if (uses.size >= MAX_WAITING && oldest !== undefined && !uses.has(key)) uses.delete(oldest)
    uses.set(key, at)
    schedule()
  }

  function schedule(): void {
    if (stopped || sessions.size + tokens.size === 0) return
    timer ??= setTimeout(() => {
      timer = undefined
      void flush().then(schedule)
    }, delay).unref()
  }

  async function store(uses: Map<string, number>, save: (values: Values) => Promise<unknown>) {
    while (uses.size > 0) {
      const batch = [...uses].slice(0, PER_STATEMENT)
      await save(
        sql.join(batch.map(([key, at]) => sql`(cast(${key} as text), cast(${at} as bigint))`)),
      )
      // A later use may have been recorded during the write.
      for (const [key, at] of batch) if (uses.get(key) === at) uses.delete(key)
    }
  }

  async function flushNow(): Promise<void> {
    try {
      await store(sessions, (values) =>
        sql`
          update sessions set last_seen_at = used.column2 from (values ${values}) as used
          where sessions.hash = used.column1 and sessions.last_seen_at < used.column2`.execute(db),
      )
      await store(tokens, (values) =>
        sql`
          update tokens set last_used_at = used.column2 from (values ${values}) as used
          where tokens.id = used.column1 and coalesce(tokens.last_used_at, 0) < used.column2`.execute(
          db,
        ),
      )
      failing = false
    } catch (error) {
      if (!failing) onError(error)
      failing = true
    }
  }

  function flush(): Promise<void> {
    running ??= flushNow().finally(() => {
      running = undefined
    })
    return running
  }

  return {
    session: (hash, at) => note(sessions, hash, at),
    sessionUse: (hash) => sessions.get(hash),
    token: (id, at) => note(tokens, id, at),
    tokenUse: (id) => tokens.get(id),
    flush,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
      await flush()
    },
  }
}

type Values = ReturnType<typeof sql.join>

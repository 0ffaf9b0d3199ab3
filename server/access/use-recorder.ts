import { sql } from 'kysely'
import type { Store } from '../storage/open.ts'

/** How long after its first noted use a batch is stored, ms. */
export const FLUSH_DELAY = 1_000

/** How many uses of each kind wait at most; beyond it the oldest is dropped. */
export const MOST_WAITING = 10_000

/** How many uses one statement stores: engines limit its parameters. */
const PER_STATEMENT = 1_000

/** Stores when sessions and tokens were last used, in batches, so that no request waits for it. */
export interface UseRecorder {
  /** Notes the use of a session, by the hash of its secret. */
  session(hash: string, at: number): void
  /** Returns when a session was last used, where that is not stored yet. */
  sessionUse(hash: string): number | undefined
  /** Notes the use of a token, by its id. */
  token(id: string, at: number): void
  /** Stores what is noted. What cannot be stored stays noted, and `onError` is called. */
  flush(): Promise<void>
  /** Flushes a last time; nothing is stored afterwards. */
  stop(): Promise<void>
}

/**
 * Creates a {@link UseRecorder}.
 *
 * @param onError called once until a flush succeeds again.
 */
export function createUseRecorder(
  { db }: Pick<Store, 'db'>,
  onError: (error: unknown) => void,
  delay = FLUSH_DELAY,
): UseRecorder {
  const sessions = new Map<string, number>()
  const tokens = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let failing = false
  let stopped = false

  function note(uses: Map<string, number>, key: string, at: number): void {
    const [oldest] = uses.keys()
    if (uses.size >= MOST_WAITING && oldest !== undefined && !uses.has(key)) uses.delete(oldest)
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
      // A later use may have been noted in between.
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

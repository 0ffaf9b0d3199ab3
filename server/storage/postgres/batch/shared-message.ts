import type { QueryArrayResult } from 'pg'
import type { Execute, ExecuteAll, PreparedStatement } from '../guarded-pool.ts'
import { mayBeRowError } from './row-error.ts'

interface Entry {
  readonly statement: PreparedStatement
  readonly resolve: (result: QueryArrayResult | Promise<QueryArrayResult>) => void
  readonly reject: (error: unknown) => void
}

/**
 * Returns a function that runs read-only statements. Different statements that begin together are
 * sent in one message, so they share a round trip and a connection.
 */
export function createSharedExecute(executeAll: ExecuteAll): Execute {
  let waiting = new Map<string, Entry>()
  const send = async (entries: readonly Entry[]) => {
    const run = (some: readonly Entry[]) => executeAll(some.map(({ statement }) => statement))
    try {
      const results = await run(entries)
      for (const [at, { resolve }] of entries.entries()) resolve(results[at] as QueryArrayResult)
    } catch (error) {
      const isDivided = entries.length > 1 && mayBeRowError(error)
      if (!isDivided) for (const { reject } of entries) reject(error)
      else await Promise.all(entries.map((entry) => send([entry])))
    }
  }
  const flush = () => {
    const entries = [...waiting.values()]
    waiting = new Map()
    if (entries.length > 0) void send(entries)
  }
  return (statement) =>
    new Promise((resolve, reject) => {
      if (waiting.has(statement.name)) flush()
      if (waiting.size === 0) queueMicrotask(flush)
      waiting.set(statement.name, { statement, resolve, reject })
    })
}

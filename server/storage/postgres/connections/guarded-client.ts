import type pg from 'pg'
import { Failure } from '../../../failure.ts'
import { type HealthMonitor, unavailableError } from '../../availability/health-monitor.ts'
import { OutcomeUnknown } from '../../availability/unavailable.ts'
import { isConflict, isRejectedByServer, postgresError } from '../postgres-error.ts'
import { Message, type MessageStatement } from './message.ts'
import { resolveCommit } from './outcome.ts'
import { connectionInfo, postgresTypes } from './pool.ts'
import { destroyConnection } from './probe.ts'
import { request } from './request.ts'

export type Statement = MessageStatement

/** Begins a transaction whose outcome can be looked up by its id. */
export const BEGIN: Statement = { text: 'begin', values: [] }
export const COMMIT: Statement = { text: 'commit', values: [] }
export const ROLLBACK: Statement = { text: 'rollback', values: [] }

/** Id of the open transaction, assigned by the server. */
const TRANSACTION_ID: Statement = {
  text: 'select pg_current_xact_id()::text as name',
  values: [],
}

/** Returns whether a statement outside of transactions is read-only. */
export const isReadOnly = ({ text }: Statement): boolean =>
  /^\s*(?:select|set|show|values|with recursive)\b/i.test(text)

/** Returns whether a statement begins or ends a snapshot (`snapshot.ts`). */
const isControl = ({ text }: Statement): boolean => /^(?:begin isolation|rollback)/.test(text)

export interface GuardedClientDeps {
  readonly connectionString: string
  readonly health: HealthMonitor
  /** Called with the failure of each query. */
  readonly onFailure: (failure: unknown) => void
}

/** A connection of the pool; see `guardPool`. */
export interface GuardedClient {
  /** Runs statements in order, in one round trip. */
  send(statements: readonly Statement[]): Promise<readonly pg.QueryResult[]>
  release(): void
}

export function guardClient(
  client: pg.PoolClient,
  { connectionString, health, onFailure }: GuardedClientDeps,
): GuardedClient {
  const { backendPid, runStart } = connectionInfo.get(client) ?? {}
  const fail = () => destroyConnection(client)
  let broken = false
  let isOpen = false
  let transaction: string | undefined

  async function transmit(statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
    const [first, second] = statements
    if (first !== BEGIN) return requestAll(client, statements)
    isOpen = true
    // Requests the id in the same message, which saves a round trip.
    const [begun, id, ...results] = await requestAll(client, [
      BEGIN,
      TRANSACTION_ID,
      ...statements.slice(1),
    ])
    transaction = id?.rows[0].name
    return second === undefined ? [begun as pg.QueryResult] : [begun as pg.QueryResult, ...results]
  }

  return {
    async send(statements) {
      const last = statements.at(-1)
      // The broken connection is closed, which rolls back the transaction.
      if (broken && last === ROLLBACK) return []
      const done = health.track({ backendPid, fail })
      try {
        return await transmit(statements)
      } catch (error) {
        // The stack of the caller instead of that of the connection.
        if (error instanceof Error) Error.captureStackTrace(error)
        const thrown = postgresError(error)
        onFailure(thrown)
        // A query that timed out here may still be running on the server.
        broken ||= thrown instanceof Failure && thrown.code === 'unavailable' && !isConflict(error)
        if (!broken || isRejectedByServer(error)) throw thrown
        health.checkNow()
        if (last === COMMIT && transaction !== undefined) {
          await resolveCommit(connectionString, transaction, { runStart }, health, thrown)
          return []
        }
        const isChange = statements.some((each) => !isReadOnly(each) && !isControl(each))
        if (!isOpen && isChange) throw new OutcomeUnknown({ cause: error })
        throw health.outage === undefined ? thrown : unavailableError(error)
      } finally {
        done()
        if (last === COMMIT || last === ROLLBACK) {
          isOpen = false
          transaction = undefined
        }
      }
    },
    release: () => client.release(broken),
  }
}

async function requestAll(
  client: pg.ClientBase,
  statements: readonly Statement[],
): Promise<readonly pg.QueryResult[]> {
  const [first] = statements
  if (first === undefined || statements.length > 1 || first.name !== undefined) {
    return (await request(client, new Message(statements, postgresTypes))) as pg.QueryResult[]
  }
  const { text, values } = first as Statement & { values: unknown[] }
  return [(await request(client, { text, values })) as pg.QueryResult]
}

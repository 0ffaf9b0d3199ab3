import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, inject, vi } from 'vitest'
import { createUntilAvailable } from '../availability/until-available.ts'
import type { EngineName, StoreRole } from '../engine.ts'
import { openStore, type StoreLocation } from '../open.ts'
import type { Store } from '../store.ts'
import { TEMPLATE } from './postgres-server.testing.ts'

/** The engine under test. Each test has its own empty store, which is not yet opened. */
export interface TestEngine {
  readonly name: EngineName
  location(): StoreLocation
  /**
   * Opens the store, by default as a node. It is closed after the test if the test has not done so.
   */
  open(role?: StoreRole): Promise<Store>
}

/** Location of a test store, and its cleanup. */
export interface TestLocation {
  readonly location: StoreLocation
  remove(): Promise<void>
}

/**
 * Declares the tests of `suite` for both engines: SQLite in a temporary folder, and the PostgreSQL
 * server of `postgres.global-setup.ts`.
 *
 * @example
 * forEachEngine((engine) => {
 *   test('starts with no endpoints', async () => {
 *     const store = await engine.open()
 *     expect(await store.db.selectFrom('endpoints').selectAll().execute()).toEqual([])
 *   })
 * })
 */
export function forEachEngine(suite: EngineSuite): void
export function forEachEngine(options: DatabaseOptions, suite: EngineSuite): void
export function forEachEngine(...parameters: [EngineSuite] | [DatabaseOptions, EngineSuite]): void {
  const [options, suite] = parameters.length === 1 ? [{}, parameters[0]] : parameters
  forEngine('sqlite', suite)
  forEngine('postgres', suite, options)
}

/** Declares tests of one engine. */
export type EngineSuite = (engine: TestEngine) => void

/** Like {@link forEachEngine}, for one engine. */
export function forEngine(name: EngineName, suite: EngineSuite, options?: DatabaseOptions): void {
  describe(name, () => {
    let database: TestLocation
    let opened: Store[] = []

    beforeEach(async () => {
      database = name === 'sqlite' ? makeFolder() : await makeDatabase(options)
    })

    afterEach(async () => {
      const stores = opened
      opened = []
      await Promise.all(stores.map((store) => store.close()))
      await database.remove()
    })

    suite({
      name,
      location: () => database.location,
      async open(role = 'node') {
        const store = await openStore(database.location, role, undefined, untilAvailable())
        opened.push(store)
        return store
      },
    })
  })
}

function makeFolder(): TestLocation {
  const data = mkdtempSync(join(tmpdir(), 'gatehouse-store-'))
  return { location: { data }, remove: async () => rmSync(data, { recursive: true, force: true }) }
}

export interface DatabaseOptions {
  /** Whether a PostgreSQL database has no tables, as before the first start. */
  readonly empty?: boolean
}

/**
 * Creates a PostgreSQL database, by default with all tables, which is faster than running the
 * migrations. For tests that share slow setup such as nodes.
 */
export async function makeDatabase({
  empty = false,
}: DatabaseOptions = {}): Promise<TestLocation & { readonly databaseUrl: string }> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const databaseUrl = new URL(inject('postgresUrl'))
  databaseUrl.pathname = name
  const copied = empty ? '' : `template ${TEMPLATE} strategy file_copy`
  await command(`create database ${name} ${copied}`)
  return {
    databaseUrl: databaseUrl.href,
    location: { databaseUrl: databaseUrl.href },
    remove: () => dropDatabase(name),
  }
}

/** Maximum time that PostgreSQL may take to accept a connection on a busy machine, ms. */
const OPENING = 60_000

/** Retries a step like a node that starts. */
const untilAvailable = () =>
  createUntilAvailable({ signal: AbortSignal.timeout(OPENING), onWait: () => {} })

/** Maximum time that connections may take to close before the server ends them, ms. */
const CLOSING = 10_000

/** Drops a database, whose connections are closed or being closed. */
async function dropDatabase(name: string): Promise<void> {
  // A client reports an error if the server terminates a connection that it is closing.
  const connections = `select 1 from pg_stat_activity where datname = '${name}'`
  await vi
    .waitUntil(async () => (await command(connections)).rowCount === 0, {
      timeout: CLOSING,
      interval: 5,
    })
    .catch(() => {})
  await command(`drop database ${name} with (force)`)
}

let admin: pg.Pool | undefined

/**
 * Runs a command as superuser. All tests of a worker share the connection, because a new one takes
 * as long as the command.
 */
function command(sql: string): Promise<pg.QueryResult> {
  admin ??= connectAsAdmin()
  return admin.query(sql)
}

function connectAsAdmin(): pg.Pool {
  const connectionString = inject('postgresUrl')
  const pool = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0 })
  // The server stops before the worker, which ends the connection.
  pool.on('error', () => {})
  return pool
}

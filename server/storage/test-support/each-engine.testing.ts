import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, inject } from 'vitest'
import type { EngineName } from '../engine.ts'
import { openStore, type Store, type StoreLocation } from '../open.ts'

/** The engine under test. Each test has its own empty store, which is not yet opened. */
export interface TestEngine {
  readonly name: EngineName
  location(): StoreLocation
  /**
   * Opens the store, by default as a node. It is closed after the test if the test has not done so.
   */
  open(role?: 'node' | 'tool'): Promise<Store>
}

/** Location of a test store, and its cleanup. */
export interface Place {
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
export function forEachEngine(suite: (engine: TestEngine) => void): void {
  forEngine('sqlite', suite)
  forEngine('postgres', suite)
}

/** Like {@link forEachEngine}, for one engine. */
export function forEngine(name: EngineName, suite: (engine: TestEngine) => void): void {
  describe(name, () => {
    let place: Place
    let opened: Store[] = []

    beforeEach(async () => {
      place = name === 'sqlite' ? makeFolder() : await makeDatabase()
    })

    afterEach(async () => {
      const stores = opened
      opened = []
      await Promise.all(stores.map((store) => store.close()))
      await place.remove()
    })

    suite({
      name,
      location: () => place.location,
      async open(role = 'node') {
        const store = await openStore(place.location, role)
        opened.push(store)
        return store
      },
    })
  })
}

function makeFolder(): Place {
  const data = mkdtempSync(join(tmpdir(), 'gatehouse-store-'))
  return { location: { data }, remove: async () => rmSync(data, { recursive: true, force: true }) }
}

/** Creates an empty PostgreSQL database, for tests that share slow setup such as nodes. */
export async function makeDatabase(): Promise<Place & { readonly databaseUrl: string }> {
  const admin = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  const databaseUrl = new URL(admin)
  databaseUrl.pathname = name
  await command(admin, `create database ${name}`)
  return {
    databaseUrl: databaseUrl.href,
    location: { databaseUrl: databaseUrl.href },
    remove: () => command(admin, `drop database ${name} with (force)`),
  }
}

async function command(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

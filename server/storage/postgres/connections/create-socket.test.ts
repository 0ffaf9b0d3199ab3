import { once } from 'node:events'
import { expect, test } from 'vitest'
import { mockLookup } from '../../../test-support/mock-lookup.testing.ts'
import { openStore } from '../../open.ts'
import { makeDatabase } from '../../test-support/each-engine.testing.ts'
import { createSocket } from './create-socket.ts'

const resolveTo = (address: string) => async () => [{ address, family: 4 }]

const failures = {
  fails: () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' })),
  'does not respond': () => new Promise<never>(() => {}),
}

test.each(Object.entries(failures))(
  'a database stays available while the resolver %s',
  async (way, fail) => {
    const database = await makeDatabase()
    const url = new URL(database.databaseUrl)
    const lookup = mockLookup(resolveTo(url.hostname))
    // A host of its own, because a lookup that does not respond continues after the test.
    url.hostname = `${way.replaceAll(' ', '-')}.test`
    const changes: unknown[] = []
    const store = await openStore({ databaseUrl: url.href }, 'node', (outage) =>
      changes.push(outage),
    )
    lookup.mockReset().mockImplementation(fail)
    // Checks the database over a new connection.
    expect(await store.recovered()).toBe(false)
    const read = () => store.db.selectFrom('counters').selectAll().execute()
    expect(await Promise.all([read(), read(), read()])).toHaveLength(3)
    expect(lookup).toHaveBeenCalledWith(url.hostname)
    expect(changes).toEqual([])
    await store.close()
    await database.remove()
  },
)

test('a socket connects to the last address of its host', async () => {
  const addressOf = async (host: string) => {
    const socket = createSocket()
    socket.on('error', () => {})
    socket.connect(1, host)
    const [error, address] = await once(socket, 'lookup')
    socket.destroy()
    return error?.code ?? address
  }
  const lookup = mockLookup(failures.fails)
  expect(await addressOf('db.test')).toBe('ENOTFOUND')
  lookup.mockImplementation(resolveTo('127.0.0.1'))
  expect(await addressOf('db.test')).toBe('127.0.0.1')
  lookup.mockImplementation(resolveTo('127.0.0.2'))
  expect(await addressOf('db.test')).toBe('127.0.0.2')
  lookup.mockImplementation(failures.fails)
  expect(await addressOf('db.test')).toBe('127.0.0.2')
  expect(await addressOf('other.test')).toBe('ENOTFOUND')
})

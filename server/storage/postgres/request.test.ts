import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { request } from './request.ts'

let client: pg.Client

beforeEach(async () => {
  client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
})

afterEach(() => client.end())

test('returns rows, and rejects with the error of the server', async () => {
  expect(await request(client, { text: 'select 1 as n' })).toMatchObject({ rows: [{ n: 1 }] })
  await expect(request(client, { text: 'select nothing' })).rejects.toMatchObject({
    code: '42703',
  })
})

test('rejects if no response arrives in time', async () => {
  const slow = request(client, { text: 'select pg_sleep(1)' }, 20)
  await expect(slow).rejects.toThrow('Query read timeout')
})

test('keeps results out of the old generation of the heap', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NonNullable<typeof gc>
  const text = "select n, repeat('x', 100) as text from generate_series(1, 1000) as n"
  collect()
  const before = oldSpace()
  for (let times = 0; times < 40; times++) {
    await request(client, { text })
    collect({ type: 'minor' })
  }
  expect(oldSpace() - before).toBeLessThan(3 * 1024 * 1024)
})

/** Returns the used size of the old generation, bytes. */
const oldSpace = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ??
  Number.NaN

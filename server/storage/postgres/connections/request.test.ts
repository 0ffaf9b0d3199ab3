import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { collectGarbage } from '../../../test-support/collect-garbage.testing.ts'
import { oldGeneration } from '../../../test-support/old-generation.testing.ts'
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
  const text = "select n, repeat('x', 100) as text from generate_series(1, 1000) as n"
  collectGarbage()
  const before = oldGeneration()
  for (let times = 0; times < 40; times++) {
    await request(client, { text })
    collectGarbage({ type: 'minor' })
  }
  expect(oldGeneration() - before).toBeLessThan(3 * 1024 * 1024)
})

import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { Message, type MessageStatement } from './message.ts'
import { postgresTypes } from './pool.ts'
import { request } from './request.ts'

let client: pg.Client

beforeEach(async () => {
  client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
})

afterEach(() => client.end())

const send = async (...statements: MessageStatement[]) =>
  (await request(client, new Message(statements, postgresTypes))) as pg.QueryResult[]

/** A prepared statement that fails if the number is 0. */
const divide = (by: number): MessageStatement => ({
  name: 'divide',
  text: "select 12 / $1::integer as result, 'twelve' as name, null as nothing, 5::bigint as big",
  values: [by],
})

test('PostgreSQL describes the columns of a prepared statement once', async () => {
  const { connection } = client as unknown as { connection: { describe: () => void } }
  const describe = vi.spyOn(connection, 'describe')
  const expected = (result: number) => ({
    fields: [{ name: 'result' }, { name: 'name' }, { name: 'nothing' }, { name: 'big' }],
    rows: [[result, 'twelve', null, 5]],
    rowCount: 1,
  })
  expect(await send(divide(3))).toMatchObject([expected(4)])
  const before = describe.mock.calls.length
  expect(await send(divide(2), divide(6))).toMatchObject([expected(6), expected(2)])
  expect(describe.mock.calls.length).toBe(before)
})

test('a prepared statement that failed at first returns its rows later', async () => {
  await expect(send(divide(0))).rejects.toMatchObject({ code: '22012' })
  expect(await send(divide(1))).toMatchObject([{ rows: [[12, 'twelve', null, 5]] }])
  await expect(send(divide(0))).rejects.toMatchObject({ code: '22012' })
  expect(await send(divide(12))).toMatchObject([{ rows: [[1, 'twelve', null, 5]] }])
})

test('a statement without a name returns objects', async () => {
  const text = 'select $1::text as name'
  expect(await send({ text, values: ['ada'] }, divide(1))).toMatchObject([
    { rows: [{ name: 'ada' }] },
    { rows: [[12, 'twelve', null, 5]] },
  ])
})

test('columns with the same name keep their values', async () => {
  const twice = { name: 'twice', text: 'select 1 as n, 2 as n', values: [] }
  expect(await send(twice)).toMatchObject([{ rows: [[1, 2]] }])
})

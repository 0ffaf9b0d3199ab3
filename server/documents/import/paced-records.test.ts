import { expect, test } from 'vitest'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { pacedRecords } from './read-records.ts'

test('other work runs between parts, also between those that are empty', async () => {
  const record = { line: 1, text: '{}' }
  async function* parts(): AsyncGenerator<ImportRecord[]> {
    for (let n = 0; n < 20; n++) yield []
    yield [record]
  }
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const read: (readonly ImportRecord[])[] = []
  for await (const part of pacedRecords(parts())) read.push(part)
  clearImmediate(next)
  expect(read).toEqual([[record]])
  expect(turns).toBeGreaterThanOrEqual(20)
})

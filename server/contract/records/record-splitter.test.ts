import { expect, test } from 'vitest'
import { CsvSplitter, LineSplitter } from './record-splitter.ts'

test.each([
  ['NDJSON', new LineSplitter()],
  ['CSV', new CsvSplitter(',')],
])('%s: a record in many chunks keeps none of them', (_, splitter) => {
  const text = 'x'.repeat(5_000)
  for (const character of text) {
    const chunk = Buffer.from(character)
    expect(splitter.push(chunk)).toEqual([])
    chunk.fill('-')
  }
  const [record] = splitter.push(Buffer.from('\n'))
  // The first chunk is kept until the second one arrives.
  expect(Buffer.from(record?.bytes ?? []).toString()).toBe(`-${text.slice(1)}`)
})

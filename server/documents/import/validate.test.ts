import { expect, test } from 'vitest'
import { VIOLATIONS } from '../../contract/schema.ts'
import type { Validate } from '../schemas/schemas.ts'
import { violationFailure } from '../schemas/violations.ts'
import { ImportTally } from './import-tally.ts'
import { type ImportedDocument, validate } from './validate.ts'

/** Returns documents whose body is their number of violations. */
const documentsOf = (counts: readonly number[]): ImportedDocument[] =>
  counts.map((count, at) => ({ line: at + 1, id: `d${at}`, tag: '', body: String(count) }))

/** Returns a check that counts the documents it gets, and reports at most {@link VIOLATIONS}. */
function createCheck(onCheck = () => {}) {
  const counted = { checks: 0, documents: 0 }
  const check: Validate = async (documents) => {
    counted.checks++
    counted.documents += documents.length
    onCheck()
    const all = documents.flatMap(({ body }, at) =>
      Array.from({ length: Number(body) }, (_, n) => ({ pointer: `/${at}/a/${n}`, message: 'x' })),
    )
    if (all.length === 0) return
    const violations = all.slice(0, VIOLATIONS)
    throw violationFailure('does not match', { violations, count: all.length })
  }
  return { check, counted }
}

const never = new AbortController().signal

test.each([
  ['no violations', Array.from({ length: 900 }, () => 0), 1],
  ['few violations', Array.from({ length: 900 }, (_, at) => (at % 2 === 0 ? 2 : 0)), 1],
  ['many violations', Array.from({ length: 900 }, () => 500), 4],
  ['more violations than are listed', Array.from({ length: 300 }, () => VIOLATIONS + 1), 4],
  ['many violations at the end', Array.from({ length: 900 }, (_, at) => (at < 600 ? 0 : 400)), 4],
  ['many violations at times', Array.from({ length: 900 }, (_, at) => (at % 9 === 0 ? 999 : 0)), 4],
])('documents with %s are checked in linear time', async (_, counts, factor) => {
  const { check, counted } = createCheck()
  const tally = new ImportTally()
  const valid = await validate(check, documentsOf(counts), tally, never)
  const expected = documentsOf(counts).filter(({ body }) => body === '0')
  expect(valid).toEqual(expected)
  expect(tally.failed).toBe(counts.length - expected.length)
  expect(counted.documents).toBeLessThanOrEqual(factor * counts.length)
})

test('no document is checked after the signal is aborted', async () => {
  const client = new AbortController()
  const { check, counted } = createCheck(() => client.abort())
  const documents = documentsOf(Array.from({ length: 900 }, () => 500))
  const validating = validate(check, documents, new ImportTally(), client.signal)
  await expect(validating).rejects.toBe(client.signal.reason)
  expect(counted.checks).toBe(1)
})

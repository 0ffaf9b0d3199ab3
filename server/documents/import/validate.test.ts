import { expect, test } from 'vitest'
import { VIOLATIONS } from '../../contract/schema.ts'
import type { CheckDocuments } from '../schemas/schemas.ts'
import { violationFailure } from '../schemas/violations.ts'
import { ImportTally } from './import-tally.ts'
import { validate } from './validate.ts'

test.each([1, VIOLATIONS])('checks few documents again if each has %i violations', async (each) => {
  let checked = 0
  const check: CheckDocuments = async (_where, documents) => {
    checked += documents.length
    const all = documents.flatMap(({ body }, at) =>
      body === '{}' ? [] : Array(each).fill({ pointer: `/${at}/a`, message: 'is invalid' }),
    )
    if (all.length === 0) return
    const violations = all.slice(0, VIOLATIONS)
    throw violationFailure('is invalid', { violations, count: all.length })
  }
  const documents = Array.from({ length: 512 }, (_, n) => {
    return { id: `d${n}`, line: n + 1, body: n % 4 === 0 ? '{}' : '{"a":1}' }
  })
  const tally = new ImportTally()
  const where = { database: '_system', collection: 'articles' }
  const valid = await validate(check, where, documents, tally)
  expect(valid).toEqual(documents.filter(({ body }) => body === '{}'))
  tally.endBatch()
  expect(tally.result).toMatchObject({ failed: 384, errors: { length: 100 } })
  // Halves of halves: a document is checked about once on each of nine levels.
  expect(checked).toBeLessThan(10 * documents.length)
})

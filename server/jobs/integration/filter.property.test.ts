import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestDocuments } from '../../documents/documents.testing.ts'
import {
  type Change,
  CONCURRENT,
  change,
  isStable,
  MAX_OTHERS,
} from '../../documents/find/other-clients.testing.ts'
import {
  contents,
  type Document,
  fieldsServing,
  indexFields,
  PAGED,
  parametersOf,
  patch,
  printIndexFields,
  query,
} from '../../documents/find/queries.testing.ts'
import { matchesAll, patchByReference } from '../../documents/find/reference.testing.ts'
import { openSlowIndexes } from '../../documents/indexes/build/slow-build.testing.ts'
import { parseFilterQuery } from '../../documents/query/query.ts'
import { Failure } from '../../failure.ts'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobsFixture } from './jobs-fixture.testing.ts'

// Generated documents, indexes and changes of all documents that match a filter. They must change
// the documents that a plain reference finds, with and without indexes, while they are built, and
// while other clients create, change and delete documents.

const ANY = { match: undefined, noneMatch: undefined }

const wholeChange = fc.record({
  query,
  kind: fc.constantFrom('patch', 'patch', 'delete'),
  patch,
  isJob: fc.boolean(),
})

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)

  test(
    'a filter selects the documents that a reference implementation finds, to change or delete them',
    async () => {
      const jobs = fixture.node(() => nextTurn())
      const stored = openSlowIndexes(fixture.store)
      const documents = createTestDocuments({
        repository: fixture.repository,
        now: () => 0,
      })
      let collections = 0
      let duringBuild = 0
      const scenario = fc.asyncProperty(
        fc.array(contents, { maxLength: 25, size: 'max' }),
        fc.array(wholeChange, { minLength: 1, maxLength: 3 }),
        fc.record({ fields: fc.array(indexFields, { maxLength: 2 }), areReady: fc.boolean() }),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (all, wholeChanges, { fields, areReady }, changes) => {
          const where = { database: '_system', collection: `c${++collections}` }
          let stable = all.map((each, at): Document => ({ ...each, id: `${at}s` }))
          for (const each of stable) await documents.create(where, JSON.stringify(each))
          const served = wholeChanges.map(({ query }) => fieldsServing({ ...query, sort: [] }))
          const lists = [...fields, ...served]
            .map(printIndexFields)
            .filter(({ length }) => length > 0)
          for (const [at, texts] of lists.entries()) await stored.put(where, `i${at}`, texts)
          if (areReady) await stored.build()
          else if (lists.length > 0) await stored.begin()
          for (const { query, kind, patch, isJob } of wholeChanges) {
            const { conditions } = query
            const partly = await stored.partlyBuilt(where)
            if (partly.length > 0) duringBuild++
            const request = {
              filter: parseFilterQuery(parametersOf({ conditions })),
              ...(kind === 'patch' && { patch: JSON.stringify(patch) }),
            }
            const changing = changeOthers(where, changes)
            const count = isJob
              ? (await fixture.ended(jobs, await jobs.begin(where, kind, request))).found
              : await jobs.change(where, kind, request, 'caller', new AbortController().signal)
            await changing
            const matching = stable.filter((each) => matchesAll(each, conditions))
            expect(count).toBeGreaterThanOrEqual(matching.length)
            expect(count).toBeLessThanOrEqual(matching.length + MAX_OTHERS)
            stable = stable.flatMap((each) => {
              if (!matching.includes(each)) return [each]
              return kind === 'patch' ? [patchByReference(each, patch)] : []
            })
            const rows = await fixture.repository.list(where, {}, 1_000)
            const found = rows.map(({ body }) => JSON.parse(body) as Document).filter(isStable)
            expect(new Map(found.map((each) => [each.id, each]))).toEqual(
              new Map(stable.map((each) => [each.id, each])),
            )
            stored.step()
          }
          await stored.end()
        },
      )
      /** Changes documents that the reference does not contain, one after another. */
      async function changeOthers(where: CollectionRef, changes: readonly Change[]): Promise<void> {
        for (const { id, kind, contents } of changes) {
          const ref = { ...where, id }
          const text = JSON.stringify({ ...contents, id })
          try {
            if (kind === 'delete') await documents.delete(ref, ANY)
            else await documents.replace(ref, text, ANY)
          } catch (error) {
            if (!(error instanceof Failure) || error.code !== 'not-found') throw error
            await documents.create(where, text)
          }
        }
      }

      try {
        const whole = { query: PAGED.query, kind: 'patch', patch: { b: 1 } } as const
        await fc.assert(scenario, {
          numRuns: 20 * CASES,
          // Changes while an index is built.
          examples: [
            [
              PAGED.contents,
              [
                { ...whole, isJob: false },
                { ...whole, isJob: true },
              ],
              { fields: [PAGED.query.sort], areReady: false },
              [CONCURRENT],
            ],
          ],
        })
      } finally {
        await stored.end()
        await stored.builder.stop()
        await jobs.stop()
      }
      expect(duringBuild).toBeGreaterThan(CASES)
      expect([...stored.errors, ...fixture.errors]).toEqual([])
    },
    120_000 * CASES,
  )
})

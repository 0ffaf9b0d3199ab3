import { expect, it } from 'vitest'
import { CHANGE_ROWS } from '../../contract/document.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobsFixture, documents, where } from './jobs-fixture.testing.ts'

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, create, created, stored, countRows } = fixture

  it('is stored as a whole in one transaction', async () => {
    const jobs = node()
    const array = documents(CHANGE_ROWS)
    const result = await create(jobs, array, { respondAsync: false })
    expect(result).toMatchObject({ existed: false, tags: { length: CHANGE_ROWS } })
    expect(await stored()).toEqual(JSON.parse(array))
    const again = create(jobs, documents(CHANGE_ROWS), { respondAsync: false })
    await expect(again).rejects.toMatchObject({ code: 'conflict', details: { field: '/0/id' } })
    expect(await countRows()).toEqual([0, 0])
  })

  it('names the element that conflicts with a stored document, and stores none', async () => {
    const indexes = openIndexesOf(fixture.store)
    await indexes.put(where, 'by-mail', ['mail'], true)
    await indexes.build()
    await fixture.repository.insert(where, [{ id: 'ann', body: '{"id":"ann","mail":"y"}' }])
    const array = JSON.parse(documents(1_100)).toSpliced(700, 1, { mail: 'y' })
    await expect(
      create(node(), JSON.stringify(array), { respondAsync: false }),
    ).rejects.toMatchObject({
      code: 'conflict',
      details: { field: '/700/mail', index: 'by-mail', document: 'ann' },
    })
    expect(await stored()).toHaveLength(1)
    await expectEntriesOfDocuments(fixture.store)
  })

  const reasons = [
    ['its bytes', documents(500, { text: 'x'.repeat(10_000) }), false],
    ['its documents', documents(CHANGE_ROWS + 1), false],
    ['its entries in indexes', documents(CHANGE_ROWS / 2 + 1), true],
  ] as const

  // The rows are counted above the engines.
  it.each(engine.name === 'sqlite' ? reasons : reasons.slice(0, 1))(
    'becomes a job because of %s',
    async (_, array, isIndexed) => {
      const indexes = openIndexesOf(fixture.store)
      if (isIndexed) await indexes.put(where, 'by-n', ['n'])
      await indexes.build()
      const jobs = node()
      const result = await create(jobs, array, { respondAsync: false })
      if (!('job' in result)) throw new Error('no job')
      const { length } = JSON.parse(array)
      expect(await ended(jobs, { id: result.job })).toMatchObject({
        state: 'done',
        done: length,
        total: length,
        result: { created: length, failed: 0 },
      })
      expect(await stored()).toEqual(JSON.parse(array))
      await jobs.stop()
    },
  )

  it('counts the documents that a job rejects, and goes on', async () => {
    await fixture.repository.insert(where, [{ id: 'd10700', body: '{"id":"d10700"}' }])
    const jobs = node()
    const array = JSON.parse(documents(1_000)).toSpliced(5, 1, 7)
    const end = await ended(jobs, await created(jobs, JSON.stringify(array)))
    expect(end).toMatchObject({
      state: 'done',
      done: 1_000,
      result: {
        created: 998,
        failed: 2,
        errors: [
          { line: 6, message: 'A document must be a JSON object.' },
          { line: 701, message: 'A document with the id "d10700" already exists.' },
        ],
      },
    })
    await jobs.stop()
  })

  it.each([
    ['bad-json', '[{"id":"a"},]'],
    ['bad-json', '[{"id":"a"}'],
  ])('is rejected as %s before its job starts: %s', async (code, text) => {
    const jobs = node()
    await expect(create(jobs, text)).rejects.toMatchObject({ code })
    await expect.poll(countRows).toEqual([0, 0])
    await jobs.stop()
  })
})

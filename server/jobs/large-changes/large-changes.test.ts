import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDocumentRules } from '../../documents/document-rules.ts'
import { readStored } from '../../documents/repository/read-stored.testing.ts'
import { createDocumentRepository } from '../../documents/repository/repository.ts'
import type { DocumentRepository } from '../../documents/repository/stored-documents.ts'
import type { Store } from '../../storage/store.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobs, type Jobs } from '../jobs.ts'

const where = { database: '_system', collection: 'articles' }
const everything = { filter: [] }
/** More documents than one transaction changes. */
const COUNT = 4_500

const idOf = (n: number) => `d${10_000 + n}`
const rows = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => {
    const id = idOf(n)
    return { id, body: JSON.stringify({ id, n, ...more }) }
  })

forEngine('sqlite', (engine) => {
  let store: Store
  let repository: DocumentRepository
  let errors: unknown[]
  /** Called between two steps. */
  let between: () => Promise<unknown>

  beforeEach(async () => {
    store = await engine.open()
    repository = createDocumentRepository(store)
    errors = []
    between = async () => {}
  })

  const node = (): Jobs =>
    createJobs({
      store,
      rules: createDocumentRules(() => 0),
      now: () => 0,
      // A turn of the event loop, as other requests need it.
      pause: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        await between()
      },
      onError: (error) => errors.push(error),
    })
  async function* parts(documents: readonly { id: string; body: string }[]) {
    for (let at = 0; at < documents.length; at += 250) yield documents.slice(at, at + 250)
  }
  const create = async (jobs: Jobs, count = COUNT) => {
    const created = await jobs.create(where, parts(rows(count)), false)
    if ('documents' in created) created.release()
    return created
  }
  const idsOf = async () => {
    const ids: string[] = []
    for (;;) {
      const page = await repository.list(where, { after: ids.at(-1) }, 1_000)
      ids.push(...page.map(({ id }) => id))
      if (page.length < 1_000) return ids
    }
  }
  /**
   * Returns the number of rows in the table, without committed changes that are not yet written.
   */
  const written = async () => (await store.db.selectFrom('documents').select('id').execute()).length
  const states = async () =>
    (await store.db.selectFrom('jobs').select('state').execute()).map(({ state }) => state)

  it('makes an array visible at once, and writes it in steps that let other writes through', async () => {
    const jobs = node()
    const seen = new Set<number>()
    const steps = new Set<number>()
    let others = 0
    between = async () => {
      seen.add((await repository.list(where, {}, 1_000)).length)
      steps.add(await written())
      await repository.insert({ ...where, collection: 'others' }, [
        { id: `o${others++}`, body: '{}' },
      ])
    }
    await create(jobs)
    await expect.poll(states).toEqual([])
    expect([...seen].sort()).toEqual([0, 1_000])
    // The table is seen partially written: other writes ran between two commits.
    expect(
      [...steps].filter((count) => count > others + 1 && count < COUNT).length,
    ).toBeGreaterThan(2)
    expect(await idsOf()).toHaveLength(COUNT)
    await jobs.stop()
    expect(errors).toEqual([])
  })

  it.each([
    ['patch', { ...everything, patch: '{"on":true}' }],
    ['delete', everything],
  ] as const)('makes a %s visible at once', async (kind, request) => {
    const jobs = node()
    await create(jobs)
    await expect.poll(states).toEqual([])
    const seen = new Set<string>()
    between = async () => {
      const [first, last] = await Promise.all(
        [idOf(0), idOf(COUNT - 1)].map((id) => repository.read({ ...where, id })),
      )
      const listed = await repository.list(where, { after: idOf(COUNT - 3) }, 9)
      const changed = (body: string | undefined) => body === undefined || body.includes('"on"')
      seen.add(`${changed(first?.body)} ${changed(last?.body)} ${changed(listed[0]?.body)}`)
    }
    expect(await jobs.run(where, kind, request)).toBe(COUNT)
    await expect.poll(states).toEqual([])
    // The commit may fall between the reads. A later read must see it if an earlier one does.
    expect([...seen]).not.toContain('true false false')
    expect([...seen]).toContain('true true true')
    const remaining = await repository.list(where, {}, 9)
    if (kind === 'delete') expect([remaining, await written()]).toEqual([[], 0])
    else expect(remaining.every(({ body }) => body.includes('"on":true'))).toBe(true)
    await jobs.stop()
  })

  it('continues after a stop, and shows the whole change until then', async () => {
    const first = node()
    const stopped = new Promise<void>((resolve) => {
      between = async () => {
        const count = await written()
        if (count > 0 && count < COUNT) void first.stop().then(resolve)
      }
    })
    await create(first)
    await stopped
    between = async () => {}
    expect([await states(), (await written()) < COUNT]).toEqual([['applying'], true])
    await store.close()
    store = await engine.open()
    repository = createDocumentRepository(store)
    const second = node()
    const [restored] = [second.restore()]
    await restored
    expect(await idsOf()).toHaveLength(COUNT)
    await expect.poll(states).toEqual(['done'])
    expect(await written()).toBe(COUNT)
    await second.stop()
  })

  it('creates nothing if an id exists, also if it is created during the check', async () => {
    await repository.insert(where, [{ id: idOf(COUNT - 1), body: '{}' }])
    const jobs = node()
    await expect(create(jobs)).rejects.toMatchObject({ code: 'conflict' })
    expect(await idsOf()).toEqual([idOf(COUNT - 1)])
    const late = { id: idOf(7), body: '{"late":true}' }
    const ref = { ...where, id: idOf(COUNT - 1) }
    await repository.delete(ref, await readStored(repository, ref))
    // The runner no longer pauses, so all pauses belong to the array and then to its check.
    await expect.poll(states).toEqual([])
    let pauses = 0
    between = async () => {
      if (++pauses === Math.ceil(COUNT / 250) + 2) await repository.insert(where, [late])
    }
    await expect(create(jobs)).rejects.toMatchObject({ code: 'conflict' })
    expect(await repository.list(where, {}, 9)).toMatchObject([late])
    await jobs.stop()
  })

  it('ends when its database is dropped', async () => {
    await store.db.insertInto('databases').values({ name: 'b', id: 'b1', created_at: 1 }).execute()
    const target = { ...where, database: 'b1' }
    const jobs = node()
    between = async () => {
      if ((await written()) > 0) await store.db.deleteFrom('databases').execute()
    }
    await jobs.create(target, parts(rows(COUNT)), false)
    await expect.poll(() => store.collectionWrites?.unapplied(target)).toBeUndefined()
    expect(await written()).toBeLessThan(COUNT)
    await jobs.stop()
  })

  it('retries failed writes, and stays visible', async () => {
    let fails = true
    const { transaction } = store
    Object.assign(store, {
      transaction: ((work, length) =>
        fails && store.collectionWrites?.unapplied(where) !== undefined
          ? Promise.reject(new Error('the disk is full'))
          : transaction(work, length)) satisfies Store['transaction'],
    })
    const jobs = node()
    await create(jobs)
    await expect.poll(() => errors).toHaveLength(1)
    expect([await written(), (await idsOf()).length]).toEqual([0, COUNT])
    fails = false
    await expect.poll(written).toBe(COUNT)
    await jobs.stop()
  })

  describe('requests while a change is applied', () => {
    const id = fc.integer({ min: 0, max: 11 }).map((n) => idOf(n * 450))
    const request = fc.record({
      verb: fc.constantFrom('insert', 'update', 'delete', 'read', 'list'),
      id,
      n: fc.nat({ max: 99 }),
    })
    const kinds = fc.constantFrom('create', 'patch', 'delete')
    /** Operations on documents to which a change was not yet applied, by kind of change. */
    const met = new Set<string>()

    it('read and change its documents like a model', async () => {
      await fc.assert(
        fc.asyncProperty(
          kinds,
          fc.array(request, { minLength: 15, maxLength: 60 }),
          async (kind, requests) => {
            await store.db.deleteFrom('documents').execute()
            const jobs = node()
            const model = new Map<string, string>()
            const count = 5_400
            if (kind !== 'create') {
              between = async () => {}
              await create(jobs, count)
              await expect.poll(states).toEqual([])
            }
            // The model starts with the result of the change; for a delete it starts empty.
            for (const { id: each, body } of rows(count)) {
              if (kind === 'create') model.set(each, body)
              if (kind === 'patch') model.set(each, body.replace('}', ',"on":true}'))
            }
            const queue = [...requests]
            const performOne = async () => {
              if (store.collectionWrites?.unapplied(where) === undefined) return
              const requested = queue.shift()
              if (requested === undefined) return
              const ref = { ...where, id: requested.id }
              const pending = await store.collectionWrites?.unapplied(where)?.read(requested.id)
              if (pending !== undefined) met.add(`${requested.verb} ${kind}`)
              const found = await repository.read(ref)
              expect(found?.body).toEqual(model.get(requested.id))
              const body = JSON.stringify({ id: requested.id, by: requested.n })
              if (requested.verb === 'insert') {
                const result = await repository.insert(where, [{ id: requested.id, body }])
                expect('exists' in result).toBe(model.has(requested.id))
                if ('tags' in result) model.set(requested.id, body)
              } else if (requested.verb === 'update' && found !== undefined) {
                expect(await repository.update(ref, found, body)).toBeDefined()
                model.set(requested.id, body)
              } else if (requested.verb === 'delete' && found !== undefined) {
                expect(await repository.delete(ref, found)).toBe(true)
                model.delete(requested.id)
              } else if (requested.verb === 'list') {
                const isDescending = requested.n % 2 === 0
                const range = { after: requested.id, isDescending }
                const listed = await repository.list(where, range, 50)
                const sorted = [...model].sort()
                const expected = (isDescending ? sorted.reverse() : sorted)
                  .filter(([each]) => each !== requested.id && each > requested.id !== isDescending)
                  .slice(0, 50)
                expect(listed.map((row) => [row.id, row.body])).toEqual(expected)
                const sizes = await repository.extent(where, range, 50, Infinity)
                const bytes = expected.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0)
                expect(sizes).toEqual({ last: undefined, bytes })
              }
            }
            let isBusy = false
            // Steps of several jobs end at the same time; the model handles one request at a time.
            between = async () => {
              if (isBusy) return
              isBusy = true
              for (let n = 0; n < 12; n++) await performOne()
              isBusy = false
            }
            if (kind === 'create') await create(jobs, count)
            else {
              const patch = kind === 'patch' ? { patch: '{"on":true}' } : {}
              await jobs.run(where, kind, { ...everything, ...patch })
            }
            await expect.poll(states).toEqual([])
            between = async () => {}
            const all: [string, string][] = []
            for (;;) {
              const page = await repository.list(where, { after: all.at(-1)?.[0] }, 1_000)
              all.push(...page.map((row): [string, string] => [row.id, row.body]))
              if (page.length < 1_000) break
            }
            expect(all).toEqual([...model].sort())
            await jobs.stop()
            expect(errors).toEqual([])
          },
        ),
        { numRuns: 9, endOnFailure: true },
      )
      for (const verb of ['insert', 'update', 'delete']) {
        expect([...met].some((each) => each.startsWith(verb))).toBe(true)
      }
    })
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { readConditions } from '../../contract/conditions.ts'
import { createDatabaseRegistry } from '../../databases/registry.ts'
import type { Queries } from '../../storage/changes/transactions.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createSchemaChecker, type SchemaChecker } from './schema-checker.ts'
import { createSchemaRepository } from './schema-repository.ts'
import { createSchemas, type Schemas } from './schemas.ts'

const none = readConditions(undefined, undefined)
const NUMBER = '{"properties":{"n":{"type":"number"}}}'
const TEXT = '{"properties":{"n":{"type":"string"}}}'
const where = { database: 'x', collection: 'c' }
const on = { record: createRecorder(), actor: START, target: 'x/c' }

forEachEngine((engine) => {
  let store: Store
  let schemas: Schemas
  let checker: SchemaChecker

  beforeAll(() => {
    checker = createSchemaChecker()
  })
  afterAll(() => checker.close())
  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'x', 'y')
    schemas = createSchemas(store, checker)
  })
  /** Returns whether a document with such an `n` is valid. */
  const takes = async (n: number | string, by = schemas, target = where) => {
    const value = { n }
    const checked = async () => by.check(target, [{ body: JSON.stringify(value) }])
    return checked().then(
      () => true,
      () => false,
    )
  }

  describe('schemas', () => {
    it('are not stored for a dropped database', async () => {
      await schemas.put(where, NUMBER, none, on)
      await store.db.deleteFrom('databases').where('name', '=', 'x').execute()
      const notFound = { code: 'database-not-found' }
      await expect(schemas.put(where, TEXT, none, on)).rejects.toMatchObject(notFound)
      const other = { ...where, collection: 'other' }
      await expect(schemas.put(other, TEXT, none, on)).rejects.toMatchObject(notFound)
      await expect(schemas.delete(where, none, on)).rejects.toMatchObject(notFound)
      expect((await schemas.read(where, none)).body).toBe(NUMBER)
    })

    it('apply from the next check after they are stored, changed or deleted', async () => {
      expect(await takes('text')).toBe(true)
      await schemas.put(where, NUMBER, none, on)
      expect([await takes(1), await takes('text')]).toEqual([true, false])
      await schemas.put(where, TEXT, none, on)
      expect([await takes(1), await takes('text')]).toEqual([false, true])
      await schemas.delete(where, none, on)
      expect(await takes(1)).toBe(true)
    })

    it('name a violation in an array of many MiB by its index', async () => {
      await schemas.put(where, '{"maxProperties":1}', none, on)
      const large = { body: JSON.stringify({ text: 'x'.repeat(700_000) }) }
      const documents = [large, large, large, { body: '{"a":1,"b":2}' }]
      await expect(schemas.check(where, documents, 7)).rejects.toMatchObject({
        message: expect.stringContaining('/10 must have at most 1 property.'),
        details: { violations: [{ pointer: '/10', message: 'must have at most 1 property' }] },
      })
    })

    it('list 1,000 violations of an array, and count all', async () => {
      await schemas.put(where, NUMBER, none, on)
      const documents = Array.from({ length: 600 }, () => ({
        body: JSON.stringify({ n: 'x'.repeat(1_000) }),
      }))
      const checked = schemas.check(where, [...documents, ...documents], 0)
      await expect(checked).rejects.toMatchObject({
        message: expect.stringContaining('There are 1200 violations.'),
        details: { violations: expect.toSatisfy(({ length }) => length === 1_000) },
      })
    })

    it('apply only to their collection in their database', async () => {
      await schemas.put(where, NUMBER, none, on)
      expect(await takes('text', schemas, { database: 'y', collection: 'c' })).toBe(true)
      expect(await takes('text', schemas, { database: 'x', collection: 'd' })).toBe(true)
      expect(await takes('text')).toBe(false)
    })

    it('are changed and deleted only in their database', async () => {
      const repository = createSchemaRepository(store)
      const others = [
        { database: 'y', collection: 'c' },
        { database: 'x', collection: 'd' },
      ]
      for (const each of [where, ...others]) await repository.put(each, undefined, NUMBER, on)
      const same = { tag: 'same', body: NUMBER }
      const makeSame = () => store.db.updateTable('schemas').set({ tag: 'same' }).execute()
      await makeSame()
      expect(await repository.put(where, same, TEXT, on)).toBeDefined()
      await makeSame()
      expect(await repository.delete(where, same, on)).toBe(true)
      for (const each of others) {
        expect(await repository.read(each)).toEqual(same)
      }
    })

    it('are not cached from a read before a change', async () => {
      // PostgreSQL looks up tags in batches, not by `db`. It reads a schema by `db`, if there is one.
      if (engine.name === 'postgres') await schemas.put(where, TEXT, none, on)
      const read = Promise.withResolvers<void>()
      const changed = Promise.withResolvers<void>()
      let reads = 0
      const db = store.db.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          if (++reads === 1) {
            read.resolve()
            await changed.promise
          }
          return result
        },
      }) as Queries
      const slow = createSchemas({ ...store, db }, checker)
      const before = takes('text', slow)
      await read.promise
      await slow.put(where, NUMBER, none, on)
      changed.resolve()
      expect(await before).toBe(true)
      expect(await takes('text', slow)).toBe(false)
    })

    it('are not all read again after a change of one', async () => {
      const collections = ['a', 'b', 'c'].map((collection) => ({ ...where, collection }))
      for (const target of collections) await schemas.put(target, TEXT, none, on)
      let reads = 0
      const db = store.db.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          if (result.rows.length >= collections.length - 1) reads++
          return result
        },
      }) as Queries
      const counted = createSchemas({ ...store, db }, checker)
      const [first = where] = collections
      expect(await takes(1, counted, first)).toBe(false)
      await counted.put(first, NUMBER, none, on)
      expect(await takes(1, counted, first)).toBe(true)
      await counted.delete(first, none, on)
      expect(await takes('text', counted, first)).toBe(true)
      await counted.put(first, TEXT, none, on)
      expect(await takes(1, counted, first)).toBe(false)
      expect(reads).toBe(engine.name === 'sqlite' ? 1 : 0)
    })

    it('apply from the next check after another process has changed them', async () => {
      const other = createSchemas(await engine.open('tool'), checker)
      for (const [schema, n] of [
        [NUMBER, 'text'],
        [TEXT, 1],
      ] as const) {
        expect(await takes(n)).toBe(true)
        await other.put(where, schema, none, on)
        // start.ts does the same before each request; PostgreSQL does not need it.
        if (engine.name === 'sqlite' && store.changedOutside()) schemas.clearCache()
        expect(await takes(n)).toBe(false)
      }
    })

    it('are changed and deleted only in the expected state', async () => {
      const first = await schemas.put(where, NUMBER, readConditions(undefined, '*'), on)
      const failed = { code: 'precondition-failed' }
      const stale = readConditions('"stale"', undefined)
      await expect(schemas.put(where, TEXT, readConditions(undefined, '*'), on)).rejects.toThrow()
      await expect(schemas.put(where, TEXT, stale, on)).rejects.toMatchObject(failed)
      await expect(schemas.delete(where, stale, on)).rejects.toMatchObject(failed)
      await expect(schemas.read(where, stale)).rejects.toMatchObject(failed)
      const second = await schemas.put(where, TEXT, readConditions(`"${first.tag}"`, undefined), on)
      expect([first.created, second.created]).toEqual([true, false])
      expect(second.tag).not.toBe(first.tag)
      expect(second).toMatchObject(await schemas.read(where, none))
      const other = readConditions(undefined, `"${second.tag}"`)
      await expect(schemas.delete(where, other, on)).rejects.toMatchObject(failed)
      await schemas.delete(where, readConditions(`"${second.tag}"`, undefined), on)
      await expect(schemas.read(where, none)).rejects.toMatchObject({ code: 'not-found' })
      await expect(schemas.put(where, TEXT, stale, on)).rejects.toMatchObject(failed)
    })

    it('lose no update when many are stored concurrently', async () => {
      const { tag } = await schemas.put(where, NUMBER, none, on)
      const seen = readConditions(`"${tag}"`, undefined)
      const responses = await Promise.allSettled(
        Array.from({ length: 8 }, () => schemas.put(where, TEXT, seen, on)),
      )
      expect(responses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it('are not stored if invalid', async () => {
      const invalid = { code: 'invalid' }
      await expect(schemas.put(where, '{"type":"text"}', none, on)).rejects.toMatchObject(invalid)
      await expect(schemas.put(where, '{"a":1,"a":1}', none, on)).rejects.toMatchObject(invalid)
      await expect(schemas.put(where, '{', none, on)).rejects.toMatchObject({ code: 'bad-json' })
      await expect(schemas.read(where, none)).rejects.toMatchObject({ code: 'not-found' })
    })

    it('of dropped databases only are purged', async () => {
      const databases = await createDatabaseRegistry(
        store,
        () => {},
        async () => {},
      )
      await databases.create('kept', START)
      await databases.create('gone', START)
      const ids = ['_system', databases.idOf('kept'), databases.idOf('gone')]
      for (const database of ids) {
        await schemas.put({ database, collection: 'c' }, NUMBER, none, on)
      }
      await databases.drop('gone', START)
      await schemas.purge()
      const remaining = await createSchemaRepository(store).tags()
      expect(remaining.map(({ database }) => database).sort()).toEqual(ids.slice(0, 2).sort())
    })
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'

const NDJSON = { 'Content-Type': 'application/x-ndjson' }
const SCHEMA = { type: 'object', properties: { year: { type: 'integer' } } }

forEachEngineNode(
  (start) => {
    let node: EngineNode
    let exported = ''

    beforeAll(async () => {
      node = await start()
      for (const name of ['blog', 'copy', 'partly'])
        await node.request('POST', '/_api/database', { name })
      await sendRequest('blog', 'POST', '/articles', [
        { id: 'one', year: 'unknown' },
        { id: 'two', year: 2 },
      ])
      await sendRequest('blog', 'PUT', '/_schema/articles', SCHEMA)
      await sendRequest('blog', 'PUT', '/_index/articles/by-year', {
        fields: ['-year'],
        unique: true,
      })
      await sendRequest('blog', 'POST', '/zoo', { id: 'x', text: 'y'.repeat(1024 * 1024 - 30) })
      await sendRequest('blog', 'PUT', '/_schema/empty', SCHEMA)
      exported = (await sendRequest('blog', 'GET', '/_export')).text
    })
    afterAll(() => node.stop())

    const sendRequest = (
      database: string,
      method: string,
      path: string,
      body?: unknown,
      headers = {},
    ) => node.request(method, `/_db/${database}${path}`, body, { headers })
    const restore = (database: string, body: string, query = '') =>
      sendRequest(database, 'POST', `/_import${query}`, body, NDJSON)

    describe('a database', () => {
      it('is exported with collections, schemas and indexes', async () => {
        const { status, headers, text } = await sendRequest('blog', 'GET', '/_export')
        expect(status).toBe(200)
        expect(headers).toMatchObject({
          'content-type': 'application/x-ndjson',
          'content-disposition': 'attachment; filename="blog.ndjson"',
        })
        const lines = text.split('\n')
        expect(lines.filter((line) => line.length < 1_000)).toEqual([
          '{"gatehouse":1,"database":"blog"}',
          `{"collection":"articles","schema":${JSON.stringify(SCHEMA)},"indexes":[{"name":"by-year","fields":["-year"],"unique":true}]}`,
          '{"document":{"id":"one","year":"unknown"}}',
          '{"document":{"id":"two","year":2}}',
          `{"collection":"empty","schema":${JSON.stringify(SCHEMA)},"indexes":[]}`,
          '{"collection":"zoo","schema":null,"indexes":[]}',
          '{"end":{"collections":3,"documents":3}}',
          '',
        ])
        expect((await sendRequest('copy', 'GET', '/_export')).text).toBe(
          '{"gatehouse":1,"database":"copy"}\n{"end":{"collections":0,"documents":0}}\n',
        )
      })

      it('is restored from its export', async () => {
        const { status, json } = await restore('copy', exported)
        expect(json).toEqual({
          collections: 3,
          created: 3,
          replaced: 0,
          skipped: 0,
          failed: 0,
          errors: [],
        })
        expect(status).toBe(200)
        const copied = (await sendRequest('copy', 'GET', '/_export')).text
        expect(copied.replace('"copy"', '"blog"') === exported).toBe(true)
        await expect
          .poll(async () => (await sendRequest('copy', 'GET', '/_index/articles')).json[0].state)
          .toBe('ready')
        const { rows } = (await node.request('GET', '/_api/audit?what=database.import')).json
        expect(rows[0]).toMatchObject({
          target: 'copy',
          outcome: 'done',
          after: { collections: 3, created: 3, complete: true },
        })
        const schemas = (await node.request('GET', '/_api/audit?what=schema&which=copy/articles'))
          .json
        expect(schemas.rows).toMatchObject([{ action: 'schema.set', before: null, after: SCHEMA }])
      })

      it('that contains documents is only changed as on-conflict says', async () => {
        const rejected = await restore('copy', exported)
        expect(rejected.status).toBe(409)
        expect(rejected.json).toMatchObject({ id: 'conflict', field: 'on-conflict' })
        const changed = exported.replace('"year":2}', '"year":3}').replace('"integer"', '"number"')
        const skipped = await restore('copy', changed, '?on-conflict=skip')
        // The schema of the collection applies, and `one` violates it.
        expect(skipped.json).toMatchObject({ created: 0, skipped: 2, failed: 1 })
        const failed = await restore('copy', changed, '?on-conflict=fail')
        expect(failed.json).toMatchObject({ created: 0, failed: 3 })
        expect(failed.json.errors).toContainEqual({
          line: 2,
          pointer: '/schema',
          message: 'The collection already has a different schema.',
        })
        expect((await sendRequest('copy', 'GET', '/articles/two')).json.year).toBe(2)
        const replaced = await restore('copy', changed, '?on-conflict=replace')
        expect(replaced.json).toMatchObject({ replaced: 2, failed: 1 })
        expect(replaced.json.errors).toMatchObject([{ line: 3, pointer: '/year' }])
        expect((await sendRequest('copy', 'GET', '/articles/two')).json.year).toBe(3)
      })

      it.each([
        ['without its end', (text: string) => text.replace(/\{"end".*\n$/, '')],
        ['cut off in a document', (text: string) => text.slice(0, text.indexOf('yyy') + 9)],
        [
          'with fewer documents than its end says',
          (text: string) => text.replace(/.*"two".*\n/, ''),
        ],
        ['with lines after its end', (text: string) => `${text}{"document":{}}\n`],
        ['with lines of another kind', (text: string) => text.replace('{"collection"', '{"x"')],
        ['with another name', (text: string) => text.replace('"zoo"', '"_zoo"')],
        ['of a later version', (text: string) => text.replace(':1,', ':2,')],
        ['of something else', () => '{"id":"one"}\n'],
        ['that is empty', () => ''],
      ])('is not restored from an export %s', async (_, change) => {
        const { status, json } = await restore('partly', change(exported), '?on-conflict=skip')
        expect(status).toBe(422)
        expect(json.id).toBe('invalid')
      })

      it('is restored by a job, which reports its progress', async () => {
        await node.request('POST', '/_api/database', { name: 'later' })
        const headers = { ...NDJSON, Prefer: 'respond-async' }
        const truncated = await sendRequest(
          'later',
          'POST',
          '/_import',
          exported.slice(0, -9),
          headers,
        )
        expect(truncated.status).toBe(422)
        const begun = await sendRequest('later', 'POST', '/_import', exported, headers)
        expect([begun.status, begun.headers['preference-applied']]).toEqual([202, 'respond-async'])
        const job = String(begun.headers.location)
        const { json } = await node.request('POST', '/_api/token', { name: 'x', role: 'editor' })
        const byEditor = { headers: { Authorization: `Bearer ${json.token}` } }
        const cancelled = await node.request('DELETE', job, undefined, byEditor)
        expect([cancelled.status, cancelled.json.id]).toEqual([403, 'forbidden'])
        await expect.poll(async () => (await node.request('GET', job)).status).toBe(200)
        expect((await node.request('GET', job)).json).toMatchObject({
          kind: 'import',
          collection: null,
          state: 'done',
          done: 3,
          total: 3,
          found: 3,
          result: { collections: 3, created: 3, replaced: 0, skipped: 0, failed: 0, errors: [] },
        })
        const copied = (await sendRequest('later', 'GET', '/_export')).text
        expect(copied.replace('"later"', '"blog"') === exported).toBe(true)
        const { rows } = (await node.request('GET', '/_api/audit?which=later&what=database.import'))
          .json
        expect(rows).toMatchObject([{ after: { collections: 3, created: 3, complete: true } }])
        const again = await sendRequest('later', 'POST', '/_import', exported, headers)
        expect([again.status, again.json.field]).toEqual([409, 'on-conflict'])
      })

      it('is restored with the largest definition of a collection', async () => {
        for (const name of ['large', 'larger'])
          await node.request('POST', '/_api/database', { name })
        // An export prints this number with 21 digits, and the characters of the fields escaped.
        const numbers = Array.from({ length: 13_000 }, () => '1e20').join()
        const schema = `{"default":[${numbers}]}`
        const fieldsOf = (index: number) =>
          Array.from({ length: 8 }, (_, at) => `${index}${at}`.padEnd(256, '\u0001'))
        await sendRequest('large', 'PUT', '/_schema/c', schema)
        for (let index = 10; index < 26; index++) {
          const path = `/_index/c/i${index}${'x'.repeat(61)}`
          const { status } = await sendRequest('large', 'PUT', path, { fields: fieldsOf(index) })
          expect(status).toBe(201)
        }
        const { text } = await sendRequest('large', 'GET', '/_export')
        expect(text.length).toBeGreaterThan(470 * 1024)
        const { status, json } = await restore('larger', text)
        expect([status, json.errors]).toEqual([200, []])
        const copied = (await sendRequest('larger', 'GET', '/_export')).text
        expect(copied.replace('"larger"', '"large"') === text).toBe(true)
      })

      it.each([true, false])('is restored with the schema %s', async (schema) => {
        for (const name of [`from-${schema}`, `to-${schema}`])
          await node.request('POST', '/_api/database', { name })
        await sendRequest(`from-${schema}`, 'PUT', '/_schema/c', schema)
        const { text } = await sendRequest(`from-${schema}`, 'GET', '/_export')
        expect((await restore(`to-${schema}`, text)).json.errors).toEqual([])
        expect((await sendRequest(`to-${schema}`, 'GET', '/_schema/c')).json).toBe(schema)
      })

      it('is restored without a schema that a later export could not contain', async () => {
        await node.request('POST', '/_api/database', { name: 'expanded' })
        const numbers = Array.from({ length: 15_000 }, () => '1e20').join()
        const lines = [
          '{"gatehouse":1,"database":"x"}',
          `{"collection":"c","schema":{"default":[${numbers}]},"indexes":[]}`,
          '{"end":{"collections":1,"documents":0}}',
        ]
        const { status, json } = await restore('expanded', lines.join('\n'))
        expect([status, json.errors]).toEqual([
          200,
          [{ line: 2, pointer: '/schema', message: 'The schema is larger than 288 KiB.' }],
        ])
      })

      it('is not restored from another type, and takes no other parameter', async () => {
        const other = await sendRequest('partly', 'POST', '/_import', exported, {
          'Content-Type': 'application/json',
        })
        expect([other.status, other.json.field]).toEqual([415, 'Content-Type'])
        const utf16 = await sendRequest('partly', 'POST', '/_import', exported, {
          'Content-Type': 'application/x-ndjson; charset="UTF-16"',
        })
        expect([utf16.status, utf16.json.message]).toEqual([
          415,
          'The body must be UTF-8, but Content-Type has the charset "UTF-16".',
        ])
        const misspelled = await restore('partly', exported, '?on-conflicts=skip')
        expect([misspelled.status, misspelled.json.field]).toEqual([400, 'on-conflicts'])
      })
    })
  },
  ['sqlite'],
)

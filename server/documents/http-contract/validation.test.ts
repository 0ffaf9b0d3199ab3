import { describe, expect, it } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { readConditions } from '../../contract/conditions.ts'
import { sendRequest } from '../../test-support/start.testing.ts'
import { createSchemaChecker } from '../schemas/schema-checker.ts'
import { createSchemas } from '../schemas/schemas.ts'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(
  (fixture) => {
    const { as, by, tokens } = fixture

    describe('Validation (422)', () => {
      const SCHEMA = {
        type: 'object',
        required: ['title'],
        properties: { title: { type: 'string' }, n: { type: 'number' } },
      }
      const violated = (...pointers: string[]) => ({
        id: 'invalid',
        message: expect.any(String),
        field: pointers[0],
        violations: pointers.map((pointer) => ({ pointer, message: expect.any(String) })),
      })

      it('PUT /_schema/<collection> returns 201 with a new schema, then 200, and so do GET and DELETE', async () => {
        const path = '/_schema/described'
        expect((await by('GET', path)).json).toMatchObject({ id: 'not_found' })
        const put = await by('PUT', path, SCHEMA)
        expect([put.status, put.json]).toEqual([201, SCHEMA])
        expect(put.headers['content-type']).toBe('application/json; version=1')
        const read = await as('viewer', 'GET', path)
        expect([read.status, read.json, read.headers.etag]).toEqual([200, SCHEMA, put.headers.etag])
        const cached = { 'If-None-Match': String(put.headers.etag) }
        expect((await by('GET', path, undefined, cached)).status).toBe(304)
        const replaced = await by('PUT', path, SCHEMA, { 'If-Match': String(put.headers.etag) })
        expect([replaced.status, replaced.json]).toEqual([200, SCHEMA])
        const stale = { 'If-Match': '"stale"' }
        expect((await by('PUT', path, true, stale)).json).toMatchObject({
          id: 'precondition_failed',
        })
        expect((await by('DELETE', path, undefined, stale)).status).toBe(412)
        const deleted = await by('DELETE', path)
        expect([deleted.status, deleted.json]).toEqual([200, SCHEMA])
        expect((await by('DELETE', path)).status).toBe(404)
        await by('PUT', path, SCHEMA)
        const minimal = await by('DELETE', path, undefined, { Prefer: 'return=minimal' })
        expect([minimal.status, minimal.text]).toEqual([204, ''])
      })

      it('PUT and DELETE /_schema/<collection> are audited, also if they are rejected', async () => {
        const path = '/_schema/audited'
        expect((await as('viewer', 'PUT', path, SCHEMA)).status).toBe(403)
        expect((await as('operator', 'PUT', path, SCHEMA)).status).toBe(201)
        expect((await by('PUT', path, true, { 'If-None-Match': '*' })).status).toBe(412)
        expect((await by('PUT', path, true)).status).toBe(200)
        expect((await as('viewer', 'DELETE', path)).status).toBe(403)
        expect((await by('DELETE', path)).status).toBe(200)
        const audit = '/_api/audit?what=schema&which=blog/audited'
        const { json } = await fixture.node.request('GET', audit)
        expect(json.rows.toReversed()).toMatchObject([
          { action: 'schema.set', outcome: 'refused', after: { refused: 'forbidden' } },
          { action: 'schema.set', outcome: 'done', before: null, after: SCHEMA },
          { action: 'schema.set', outcome: 'refused', after: { refused: 'precondition-failed' } },
          { action: 'schema.set', outcome: 'done', before: SCHEMA, after: true },
          { action: 'schema.delete', outcome: 'refused', after: { refused: 'forbidden' } },
          { action: 'schema.delete', outcome: 'done', before: true, after: null },
        ])
      })

      it('is audited with its keys as they are written, although others have similar ones', async () => {
        const path = '/_schema/escaped'
        const schema = (key: string) => ({ properties: { escapes: true, [key]: true } })
        await by('PUT', path, schema('\\'))
        await by('PUT', path, schema('\n'))
        await by('DELETE', path)
        const audit = '/_api/audit?what=schema&which=blog/escaped'
        const { text } = await fixture.node.request('GET', audit)
        // Not parsed: the client has the same parser.
        expect(text.match(/"escapes":true,"\\\\":true/g)).toHaveLength(2)
        expect(text.match(/"escapes":true,"\\n":true/g)).toHaveLength(2)
      })

      it('comes after 404 and before 409 and 412', async () => {
        await by('POST', '/ordered', { id: 'a', title: 'One' })
        await by('PUT', '/_schema/ordered', SCHEMA)
        const stale = { 'If-Match': '"stale"' }
        const none = { 'If-None-Match': '*' }
        const wrong = { title: 1 }
        for (const [method, path, body, headers, status] of [
          ['PUT', '/ordered/absent', wrong, {}, 404],
          ['PATCH', '/ordered/absent', wrong, {}, 404],
          ['PUT', '/ordered/absent', wrong, stale, 422],
          ['PATCH', '/ordered/absent', wrong, stale, 412],
          ['PUT', '/ordered/a', wrong, stale, 422],
          ['PATCH', '/ordered/a', wrong, stale, 422],
          ['PATCH', '/ordered/a', wrong, none, 422],
          ['PUT', '/ordered/a', { title: 'Two' }, stale, 412],
          ['PATCH', '/ordered/a', { title: 'Two' }, none, 412],
          ['POST', '/ordered', { id: 'a', title: 1 }, {}, 422],
          ['POST', '/ordered', { id: 'a', title: 'Two' }, {}, 409],
          ['POST', '/ordered', [{ id: 'x' }, { id: 'x' }], {}, 422],
          ['PUT', '/ordered/absent', 'no JSON', {}, 400],
          ['PUT', '/ordered/absent', [], {}, 422],
        ] as const) {
          const response = await by(method, path, body, headers)
          expect([method, path, body, headers, response.status]).toEqual([
            method,
            path,
            body,
            headers,
            status,
          ])
        }
        expect((await by('GET', '/ordered')).json).toEqual([{ id: 'a', title: 'One' }])
      })

      it('rejects every invalid change, with every violation and its pointer', async () => {
        const { id } = (await by('POST', '/checked', { title: 'One' })).json
        await by('PUT', '/_schema/checked', SCHEMA)
        for (const [method, path, body, pointers] of [
          ['POST', '/checked', { title: 1, n: 'x' }, ['/title', '/n']],
          ['POST', '/checked', [{ title: 'a' }, { n: 1 }, { title: 2 }], ['/1', '/2/title']],
          ['PUT', `/checked/${id}`, { n: false }, ['', '/n']],
          ['PATCH', `/checked/${id}`, { title: null }, ['']],
        ] as const) {
          const response = await by(method, path, body)
          expect([response.status, response.json]).toEqual([422, violated(...pointers)])
          expect(response.headers['content-type']).toBe('application/json')
        }
        expect((await by('GET', '/checked')).json).toEqual([{ id, title: 'One' }])
        expect((await by('POST', '/checked', [{ title: 'a', n: 1 }])).status).toBe(201)
        expect((await by('PATCH', `/checked/${id}`, { n: 5 })).status).toBe(200)
        expect((await by('PUT', `/checked/${id}`, { title: 'Two' })).status).toBe(200)
      })

      it('applies from the next request, and leaves stored documents as they are', async () => {
        const { id } = (await by('POST', '/late', { n: 'old' })).json
        await by('PUT', '/_schema/late', SCHEMA)
        expect((await by('GET', `/late/${id}`)).json).toEqual({ id, n: 'old' })
        expect((await by('PATCH', `/late/${id}`, { m: 1 })).json).toEqual(violated('', '/n'))
        expect((await by('PATCH', `/late/${id}`, { n: 1, title: 'new' })).status).toBe(200)
        await by('DELETE', '/_schema/late')
        expect((await by('POST', '/late', { n: 'any' })).status).toBe(201)
      })

      it('applies from the next request after another process has stored the schema', async () => {
        await fixture.node.request('POST', '/_db/shop/outside', { n: 'any' })
        const store = await fixture.node.openStore()
        const checker = createSchemaChecker()
        try {
          const { id } = await store.db
            .selectFrom('databases')
            .select('id')
            .where('name', '=', 'shop')
            .executeTakeFirstOrThrow()
          const where = { database: id, collection: 'outside' }
          await createSchemas(store, checker).put(
            where,
            JSON.stringify(SCHEMA),
            readConditions(undefined, undefined),
            { record: createRecorder(), actor: START, target: 'shop/outside' },
          )
        } finally {
          await store.close()
        }
        expect((await fixture.node.request('POST', '/_db/shop/outside', { n: 'any' })).status).toBe(
          422,
        )
        expect((await by('POST', '/outside', { n: 'any' })).status).toBe(201)
      })

      it('rejects invalid JSON Schemas and external references', async () => {
        const wrong = await by('PUT', '/_schema/refused', { properties: { a: { type: 'text' } } })
        expect([wrong.status, wrong.json.id]).toEqual([422, 'invalid'])
        expect(wrong.json.violations[0].pointer).toBe('/properties/a/type')
        const remote = await by('PUT', '/_schema/refused', { $ref: 'http://127.0.0.1/a' })
        expect(remote.status).toBe(422)
        expect((await by('PUT', '/_schema/refused', '{"a":')).status).toBe(400)
        const large = await by('PUT', '/_schema/refused', { title: 'x'.repeat(65_536) })
        expect(large.status).toBe(413)
        expect((await by('GET', '/_schema/refused')).status).toBe(404)
      })

      it("requires the role operator and the database in the token's scope", async () => {
        for (const method of ['PUT', 'DELETE']) {
          expect((await as('viewer', method, '/_schema/articles')).status).toBe(403)
        }
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const headers = { Authorization: `Bearer ${tokens.get('of blog')}` }
          const elsewhere = await sendRequest(
            fixture.node.port,
            method,
            '/_db/shop/_schema/outside',
            {
              headers,
            },
          )
          expect(elsewhere.status).toBe(403)
          expect(
            (await sendRequest(fixture.node.port, method, '/_db/blog/_schema/articles')).status,
          ).toBe(401)
        }
        const post = await by('POST', '/_schema/articles', {})
        expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
        expect((await by('GET', '/_schema/Articles')).status).toBe(404)
        expect((await by('GET', `/_schema/a${'a'.repeat(64)}`)).status).toBe(404)
      })

      it('is deleted with its database: a new one of the same name has no schema', async () => {
        await fixture.node.request('POST', '/_api/database', { name: 'strict' })
        await fixture.node.request('PUT', '/_db/strict/_schema/articles', SCHEMA)
        expect((await fixture.node.request('POST', '/_db/strict/articles', {})).status).toBe(422)
        await fixture.node.request('DELETE', '/_api/database/strict')
        await fixture.node.request('POST', '/_api/database', { name: 'strict' })
        expect((await fixture.node.request('GET', '/_db/strict/_schema/articles')).status).toBe(404)
        expect((await fixture.node.request('POST', '/_db/strict/articles', {})).status).toBe(201)
      })
    })
  },
  ['sqlite'],
)

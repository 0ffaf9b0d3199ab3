import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { bodyBudget } from '../../http/input/body/body-budget.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'

// docs/http-api.md, "POST /<collection>", imports, by plain HTTP against a running server.

forEachEngineNode(
  (start) => {
    let node: EngineNode
    beforeAll(async () => {
      node = await start()
    })
    afterAll(() => node.stop())

    const send = (path: string, type: string, body: string) =>
      node.request('POST', path, body, { headers: { 'Content-Type': type } })
    const all = async (path: string) => (await node.request('GET', path)).json

    it('imports CSV', async () => {
      const csv = 'id,title,author.name,year\n1,One,Ada,1843\n2,"Two, or more",,x\n3\n'
      const response = await send('/csv', 'text/csv; charset=utf-8', csv)
      expect(response).toMatchObject({ status: 200, json: { created: 2, failed: 1 } })
      expect(response.headers['content-type']).toBe('application/json; version=1')
      expect(response.json.errors).toEqual([
        { line: 4, pointer: '', message: 'The line has 1 cell, but the header has 4.' },
      ])
      expect(await all('/csv')).toEqual([
        { id: '1', title: 'One', author: { name: 'Ada' }, year: 1843 },
        { id: '2', title: 'Two, or more', year: 'x' },
      ])
    })

    it('imports CSV whose cells are separated by semicolons or tabs', async () => {
      const semicolons = 'id;price\n1;"3,\n50"\n2;4,00\n3,5\n'
      const response = await send('/prices?csv-separator=semicolon', 'text/csv', semicolons)
      expect(response.json).toMatchObject({ created: 2, failed: 1 })
      const headers = { 'Content-Type': 'text/csv', Prefer: 'respond-async' }
      const tabs = 'id\tprice\n3\t5\n'
      const job = await node.request('POST', '/prices?csv-separator=tab', tabs, { headers })
      const status = async () => (await node.request('GET', String(job.headers.location))).status
      await expect.poll(status).toBe(200)
      expect(await all('/prices')).toEqual([
        { id: '1', price: '3,\n50' },
        { id: '2', price: '4,00' },
        { id: '3', price: 5 },
      ])
    })

    it('lists the created documents with their entity tags if requested, up to 10,000', async () => {
      const headers = { 'Content-Type': 'text/csv', Prefer: 'return=representation' }
      const importOf = (path: string, csv: string) => node.request('POST', path, csv, { headers })
      await send('/listed', 'text/csv', 'id\none\n')
      const response = await importOf('/listed?on-conflict=skip', 'id\none\ntwo\nthree\n')
      expect(response.headers['preference-applied']).toBe('return=representation')
      const { documents } = response.json
      expect(documents.map(({ id }: { id: string }) => id)).toEqual(['two', 'three'])
      await node.request('PUT', '/listed/three', '{"n":1}')
      const statuses = documents.map(async ({ id, etag }: { id: string; etag: string }) => {
        const conditions = { headers: { 'If-Match': etag } }
        return (await node.request('DELETE', `/listed/${id}`, '', conditions)).status
      })
      expect(await Promise.all(statuses)).toEqual([200, 412])

      const many = `n\n${'1\n'.repeat(10_001)}`
      expect((await importOf('/many', many)).json).toMatchObject({ created: 10_001 })
      expect((await importOf('/many', many)).json).not.toHaveProperty('documents')
    })

    it('imports cells of CSV as strings if requested', async () => {
      await send('/codes?csv-types=string', 'text/csv', 'id ,code\n1,12E4\n2,00123\n')
      expect(await all('/codes')).toEqual([
        { id: '1', code: '12E4' },
        { id: '2', code: '00123' },
      ])
    })

    it('ends an import of CSV at a broken quote, and reads the rest of the body', async () => {
      const rest = 'x\n'.repeat(4 * 2 ** 20)
      const response = await send('/broken', 'text/csv', `id\none\n"two"2\n${rest}`)
      const message = expect.stringMatching(/The import ends at this line\.$/)
      expect(response.json).toMatchObject({ created: 1, failed: 1, errors: [{ line: 3, message }] })
      expect(await all('/broken')).toEqual([{ id: 'one' }])
    })

    it('imports NDJSON, and applies on-conflict and the schema', async () => {
      await node.request('PUT', '/_schema/books', { properties: { n: { type: 'number' } } })
      const type = 'application/x-ndjson'
      await send('/books', type, '{"id":"a","n":1}\n')
      const body = '{"id":"a","n":2}\n{"id":"b","n":"x"}\n{"id":"c"}'
      const violation = { line: 2, pointer: '/n', message: 'must be number' }
      const replaced = await send('/books?on-conflict=replace', type, body)
      expect(replaced.json).toEqual({
        created: 1,
        replaced: 1,
        skipped: 0,
        failed: 1,
        errors: [violation],
      })
      const skipped = await send('/books?on-conflict=skip', 'Application/X-NDJSON', body)
      expect(skipped.json).toMatchObject({ created: 0, skipped: 2, failed: 1 })
      expect(await all('/books')).toEqual([{ id: 'a', n: 2 }, { id: 'c' }])
    })

    it('imports as a job with the same result', async () => {
      const body = '{"id":"a"}\n{"id":"a"}\n[\n\n{"id":"b"}\n'.concat('{"n":1}\n'.repeat(1_200))
      const headers = { 'Content-Type': 'application/x-ndjson', Prefer: 'respond-async' }
      const response = await node.request('POST', '/later?on-conflict=skip', body, { headers })
      expect([response.status, response.json.state]).toEqual([202, 'running'])
      const job = String(response.headers.location)
      await expect.poll(async () => (await node.request('GET', job)).status).toBe(200)
      expect((await node.request('GET', job)).json).toMatchObject({
        kind: 'import',
        state: 'done',
        done: 1_204,
        total: 1_204,
        found: 1_202,
        result: {
          created: 1_202,
          replaced: 0,
          skipped: 1,
          failed: 1,
          errors: [{ line: 3, pointer: '', message: 'This is not JSON.' }],
        },
      })
      const empty = await node.request('POST', '/later', '', { headers })
      const none = String(empty.headers.location)
      await expect.poll(async () => (await node.request('GET', none)).json.state).toBe('done')
      expect((await node.request('GET', none)).json.result).toEqual({
        created: 0,
        replaced: 0,
        skipped: 0,
        failed: 0,
        errors: [],
      })
    })

    it('stages nothing of a job whose body cannot be read', async () => {
      const headers = { 'Content-Type': 'text/csv', Prefer: 'respond-async' }
      expect((await node.request('POST', '/never', 'a,a\n', { headers })).status).toBe(422)
      expect(await all('/never')).toEqual([])
    })

    test.each([
      ['/c?on-conflict=ignore', 'text/csv', 400, 'on-conflict'],
      ['/c?on-conflict=skip&on-conflict=fail', 'text/csv', 400, 'on-conflict'],
      ['/c?onconflict=skip', 'text/csv', 400, 'onconflict'],
      ['/c?on-conflict=skips', 'application/json', 400, 'on-conflict'],
      ['/c?on-conflict=skip&upsert=1', 'application/json', 400, 'upsert'],
      ['/c?csv-separator=;', 'text/csv', 400, 'csv-separator'],
      ['/c?csv-types=number', 'text/csv', 400, 'csv-types'],
      ['/c?csv-separator=tab&csv-separator=tab', 'text/csv', 400, 'csv-separator'],
      ['/c?csv-separator=tab', 'application/x-ndjson', 400, 'csv-separator'],
      ['/c?csv-separator=tab', 'application/json', 400, 'csv-separator'],
      ['/c', 'text/csv; charset=iso-8859-1', 415, 'Content-Type'],
      ['/c', 'text/csvx', 415, 'Content-Type'],
      ['/c', 'text/csv', 422, undefined],
    ])('POST %s with %s gets %i', async (path, type, status, field) => {
      const response = await send(path, type, 'a,a\n')
      expect(response.status).toBe(status)
      expect(response.json.field).toBe(field)
      expect(await all('/c')).toEqual([])
    })

    test.each([
      ['application/ndjson', 'application/x-ndjson'],
      ['application/jsonl; charset=utf-8', 'application/x-ndjson'],
      ['application/x-jsonlines', 'application/x-ndjson'],
      ['text/x-ndjson', 'application/x-ndjson'],
      ['application/csv', 'text/csv'],
      ['text/comma-separated-values', 'text/csv'],
    ])('POST with %s gets 415, which names %s', async (type, supported) => {
      const { status, json } = await send('/c', type, '{"id":"a"}\n')
      expect([status, json]).toMatchObject([415, { id: 'unsupported_media_type' }])
      expect(json.field).toBe('Content-Type')
      expect(json.message).toContain(`send Content-Type: ${supported}.`)
    })

    test.each<[string, string, string, Record<string, string>, number]>([
      ['POST', '/gzip', '{"id":"a"}\n'.repeat(9), { 'Content-Type': 'application/x-ndjson' }, 200],
      ['POST', '/gzip', '{"id":"b"}', {}, 201],
      ['POST', '/gzip', JSON.stringify([{ text: 'x'.repeat(100_000) }]), {}, 201],
      ['PATCH', '/gzip/b', '{"n":1}', {}, 200],
      ['PUT', '/_schema/gzip', '{}', {}, 201],
      ['PUT', '/_schema/gzip', '{}', { 'Content-Encoding': 'br' }, 415],
      ['POST', '/_api/database', '{"name":"packed"}', {}, 201],
    ])('%s %s accepts a compressed body', async (method, path, text, headers, status) => {
      const answer = await new Promise<number>((resolve, reject) => {
        const Authorization = `Bearer ${node.token}`
        const sent = request(
          {
            port: node.port,
            method,
            path,
            headers: { Authorization, 'Content-Encoding': 'gzip', ...headers },
          },
          (response) => resolve(response.resume().statusCode ?? 0),
        )
        sent.on('error', reject)
        sent.end(gzipSync(text))
      })
      expect(answer).toBe(status)
    })

    describe('a client that disconnects', () => {
      it('ends its import; the documents of complete batches stay', async () => {
        const client = request({
          port: node.port,
          method: 'POST',
          path: '/left',
          headers: {
            Authorization: `Bearer ${node.token}`,
            'Content-Type': 'application/x-ndjson',
          },
        })
        client.on('error', () => {})
        client.write('{}\n'.repeat(1_500))
        const count = async () => (await all('/left?limit=1000&fields=id')).length
        await expect.poll(count).toBe(1_000)
        expect(bodyBudget.held).toBeGreaterThan(0)
        client.destroy()
        await expect.poll(() => bodyBudget.held).toBe(0)
        const counted = await node.request('GET', '/left?limit=1', undefined, {
          headers: { Prefer: 'count=exact' },
        })
        expect(counted.headers['x-total-count']).toBe('1000')
      })
    })
  },
  ['sqlite'],
)

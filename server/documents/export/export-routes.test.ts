import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../storage/store.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { EXPORTS } from './exporter.ts'

/** More than the system buffers for a client that does not read. */
const LARGE = { documents: 240, bytes: 100_000 } as const

forEachEngineNode(
  (start) => {
    let node: EngineNode
    let store: Store
    let database = ''

    beforeAll(async () => {
      node = await start()
      await node.request('POST', '/_api/database', { name: 'blog' })
      store = await node.openStore()
      const row = store.db.selectFrom('databases').select('id').where('name', '=', 'blog')
      database = (await row.executeTakeFirstOrThrow()).id
      const articles = [
        { id: 'one', title: 'One', author: { name: 'ada' }, year: 2024 },
        { id: 'two', title: '=2', year: 2025, tags: ['a', 'b'] },
        { id: 'three', title: 'Three, "3"', author: { name: 'ada' } },
      ]
      for (const article of articles) await sendRequest('POST', '/articles', article)
      await createDocumentRepository(store).insert(
        { database, collection: 'large' },
        Array.from({ length: LARGE.documents }, (_, at) => {
          const id = String(at).padStart(4, '0')
          return { id, body: JSON.stringify({ id, text: 'x'.repeat(LARGE.bytes) }) }
        }),
      )
    })
    afterAll(async () => {
      await store.close()
      await node.stop()
    })

    const sendRequest = (method: string, path: string, body?: unknown, headers = {}) =>
      node.request(method, `/_db/blog${path}`, body, { headers })
    const ndjson = (path: string) =>
      sendRequest('GET', path, undefined, { Accept: 'application/x-ndjson' })
    const csv = (path: string) => sendRequest('GET', path, undefined, { Accept: 'text/csv' })

    /** Requests an export, and returns its response before its body is read. */
    async function beginLarge(): Promise<IncomingMessage> {
      const request = httpRequest({
        port: node.port,
        path: '/_db/blog/large',
        headers: { Authorization: `Bearer ${node.token}`, Accept: 'application/x-ndjson' },
        agent: false,
      })
      request.end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.on('error', () => {})
      return response
    }

    describe('an export', () => {
      it('contains every document that matches, as NDJSON', async () => {
        const all = await ndjson('/articles')
        expect(all.status).toBe(200)
        expect(all.headers).toMatchObject({
          'content-type': 'application/x-ndjson',
          'content-disposition': 'attachment; filename="articles.ndjson"',
          vary: 'Accept',
        })
        expect(
          all.text.split('\n').map((line) => (line === '' ? '' : JSON.parse(line).id)),
        ).toEqual([...['one', 'three', 'two', '']])
        const some = await ndjson('/articles?author.name=ada&sort=-title&fields=author.name')
        expect(some.text).toBe(
          '{"id":"three","author":{"name":"ada"}}\n{"id":"one","author":{"name":"ada"}}\n',
        )
        expect(some.headers['query-plan']).toBe('scan')
        expect((await ndjson('/none')).text).toBe('')
      })

      it('has a header and neutral cells as CSV', async () => {
        const all = await csv('/articles?sort=title')
        expect(all.headers).toMatchObject({
          'content-type': 'text/csv; charset=utf-8; header=present',
          'content-disposition': 'attachment; filename="articles.csv"',
        })
        expect(all.text).toBe(
          'id,title,year,tags,author\r\n' +
            'two,\'=2,2025,"[""a"",""b""]",\r\n' +
            'one,One,2024,,"{""name"":""ada""}"\r\n' +
            'three,"Three, ""3""",,,"{""name"":""ada""}"\r\n',
        )
        const some = await csv('/articles?year:exists=true&fields=author.name,title&csv-cells=raw')
        expect(some.text).toBe('id,author.name,title\r\none,ada,One\r\ntwo,,=2\r\n')
        expect((await csv('/none')).text).toBe('id\r\n')
      })

      it('has the separator of CSV that was requested', async () => {
        const path = '/articles?fields=title,tags&sort=title'
        expect((await csv(`${path}&csv-separator=semicolon`)).text).toBe(
          'id;title;tags\r\ntwo;\'=2;"[""a"",""b""]"\r\none;One;\r\nthree;"Three, ""3""";\r\n',
        )
        expect((await csv('/articles?fields=title&csv-separator=tab&id=one')).text).toBe(
          'id\ttitle\r\none\tOne\r\n',
        )
      })

      it.each([
        'limit=1',
        'after=one',
        'cursor=x',
        'csv-cells=x',
        'csv-separator=;',
        'csv-separator=toString',
        'csv-separator=tab&export-as=json',
        'csv-cells=raw&export-as=ndjson',
        'fields=-title',
        'fields=author,author.name',
        'export-as=xml',
      ])('rejects %s and names the parameter', async (query) => {
        const { status, json } = await csv(`/articles?${query}`)
        expect(status).toBe(400)
        expect(json).toMatchObject({ id: 'bad_request', field: query.split('=')[0] })
      })

      it('is chosen by the preferred type of Accept', async () => {
        const typeFor = async (accept: string) => {
          const { headers } = await sendRequest('GET', '/articles', undefined, { Accept: accept })
          return headers['content-type']?.split(';')[0]
        }
        expect(await typeFor('text/csv;q=0.5, application/x-ndjson')).toBe('application/x-ndjson')
        expect(await typeFor('application/json, text/csv')).toBe('application/json')
        expect(await typeFor('*/*, text/csv;q=0.9')).toBe('application/json')
        expect(await typeFor('text/csv;q=0')).toBe('application/json')
        expect(await typeFor('Text/CSV, */*;q=0.1')).toBe('text/csv')
        for (const query of ['csv-cells=raw', 'csv-separator=tab']) {
          const listed = await sendRequest('GET', `/articles?${query}`)
          expect(listed.json).toMatchObject({ field: query.split('=')[0] })
        }
      })

      it('is chosen by export-as regardless of Accept', async () => {
        const asJson = await sendRequest('GET', '/articles?export-as=json&fields=title&sort=title')
        expect(asJson.text).toBe(
          '[\n{"id":"two","title":"=2"},\n{"id":"one","title":"One"},\n{"id":"three","title":"Three, \\"3\\""}\n]\n',
        )
        expect(asJson.headers).toMatchObject({
          'content-type': 'application/json',
          'content-disposition': 'attachment; filename="articles.json"',
        })
        expect((await sendRequest('GET', '/none?export-as=json')).text).toBe('[]\n')
        const ids = async (response: ReturnType<typeof sendRequest>) =>
          (await response).text.split(/\s/)[0]
        expect(await ids(csv('/articles?export-as=ndjson&fields=id'))).toBe('{"id":"one"}')
        expect(await ids(ndjson('/articles?export-as=csv&fields=id'))).toBe('id')
      })

      it.each(['', '?export-as=json'])('has no body for HEAD%s', async (query) => {
        const headers = { Accept: 'application/x-ndjson' }
        const {
          status,
          text,
          headers: got,
        } = await sendRequest('HEAD', `/articles${query}`, undefined, headers)
        expect([status, text]).toEqual([200, ''])
        expect(got['content-disposition']).toMatch(/^attachment/)
        expect(got).not.toHaveProperty('content-length')
      })

      it('frees its place when the client disconnects', async () => {
        const running = await Promise.all(
          Array.from({ length: EXPORTS.running }, () => beginLarge()),
        )
        const waiting = beginLarge()
        running.pop()?.destroy()
        const next = await waiting
        // 503 if it had waited for too long.
        expect(next.statusCode).toBe(200)
        for (const each of [...running, next]) each.destroy()
        expect((await ndjson('/articles')).status).toBe(200)
      })
    })
  },
  ['sqlite'],
)

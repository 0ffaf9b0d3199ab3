import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRecorder } from '../../audit/record.ts'
import { createTokenByCommand } from '../../cli/commands/token-create.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { sendRequest } from '../../test-support/start.testing.ts'

// Lists the collections of a database on a running node.

forEachEngineNode(
  (start) => {
    let node: EngineNode
    let scoped: string

    beforeAll(async () => {
      node = await start()
      for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
      for (const path of ['/_db/blog/notes', '/_db/blog/articles', '/_db/shop/orders']) {
        expect((await node.request('POST', path, { id: 'a' })).status).toBe(201)
      }
      const store = await node.openStore()
      const flags = { name: 's', role: 'viewer', databases: '_system,blog' }
      scoped = await createTokenByCommand(store, createRecorder(), flags, Date.now())
      await store.close()
    })
    afterAll(() => node.stop())

    const list = (database: string) => node.request('GET', `/_api/collection?database=${database}`)

    describe('GET /_api/collection', () => {
      it('lists the collections that hold documents, by name', async () => {
        expect((await list('blog')).status).toBe(200)
        const measured = expect.stringMatching(/^\d{4}-.*Z$/)
        await expect
          .poll(async () => (await list('blog')).json)
          .toEqual([
            { name: 'articles', documents: 1, bytes: 10, measured },
            { name: 'notes', documents: 1, bytes: 10, measured },
          ])
        expect((await list('_system')).json).toEqual([])
      })

      it('omits a collection whose last document was deleted', async () => {
        await node.request('POST', '/_db/shop/drafts', { id: 'a' })
        await node.request('DELETE', '/_db/shop/drafts/a')
        expect((await list('shop')).json).toMatchObject([{ name: 'orders' }])
        expect((await list('shop')).json).toHaveLength(1)
      })

      it('requires the name of an existing database', async () => {
        const nameless = await node.request('GET', '/_api/collection')
        expect([nameless.status, nameless.json.errorNum]).toEqual([400, 10])
        const absent = await list('absent')
        expect([absent.status, absent.json.errorNum]).toEqual([404, 1228])
      })

      it('hides a database outside the mapping', async () => {
        const { port } = await narrowEndpoint()
        const requested = (database: string) =>
          node.request('GET', `/_api/collection?database=${database}`, undefined, { port })
        expect((await requested('blog')).status).toBe(200)
        expect((await requested('shop')).json).toMatchObject({ code: 404, errorNum: 1228 })
      })

      it('rejects tokens of other databases and anonymous requests', async () => {
        const headers = { Authorization: `Bearer ${scoped}` }
        const by = (database: string) =>
          sendRequest(node.port, 'GET', `/_api/collection?database=${database}`, { headers })
        expect((await by('blog')).status).toBe(200)
        expect((await by('shop')).json).toMatchObject({ code: 403, errorNum: 11 })
        expect((await sendRequest(node.port, 'GET', '/_api/collection?database=blog')).status).toBe(
          401,
        )
      })
    })

    describe('GET /_api/size', () => {
      it('returns the size of every database, also outside the mapping', async () => {
        const { port } = await narrowEndpoint()
        await expect
          .poll(() => node.request('GET', '/_api/size', undefined, { port }))
          .toMatchObject({
            status: 200,
            json: [
              { database: '_system', collections: 0, documents: 0, bytes: 0 },
              { database: 'blog', collections: 2, documents: 2, bytes: 20 },
              { database: 'shop', collections: 1, documents: 1, bytes: 10 },
            ],
          })
      })

      it('returns only the databases of a token, and requires _system', async () => {
        const headers = { Authorization: `Bearer ${scoped}` }
        const { json } = await sendRequest(node.port, 'GET', '/_api/size', { headers })
        expect(json.map(({ database }: { database: string }) => database)).toEqual([
          '_system',
          'blog',
        ])
        expect((await node.request('GET', '/_db/blog/_api/size')).json.errorNum).toBe(1230)
        expect((await sendRequest(node.port, 'GET', '/_api/size')).status).toBe(401)
      })
    })

    /** Adds an endpoint that exposes _system and blog. */
    async function narrowEndpoint(): Promise<{ port: number }> {
      const [port] = await freePorts(1)
      const endpoint = `tcp://127.0.0.1:${port}`
      const body = { endpoint, databases: ['_system', 'blog'] }
      expect((await node.request('POST', '/_api/endpoint', body)).status).toBe(200)
      return { port: port as number }
    }
  },
  ['sqlite'],
)

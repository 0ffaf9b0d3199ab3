import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, it, vi } from 'vitest'
import { forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'

forEachEngineNode((start) => {
  it('prepares an import while the clock is set', async () => {
    const node = await start()
    const store = await node.openStore()
    try {
      const headers = {
        Authorization: `Bearer ${node.token}`,
        Prefer: 'respond-async',
        'Content-Type': 'application/x-ndjson',
      }
      const sent = request({ method: 'POST', port: node.port, path: '/things', headers })
      const responded = once(sent, 'response')
      sent.write('{"id":"a"}\n')
      const states = () => store.db.selectFrom('jobs').select('state').execute()
      await expect.poll(states).toEqual([{ state: 'preparing' }])

      const right = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => right() + 3_600_000)
      const job = async (location: unknown) => (await node.request('GET', String(location))).json
      // Before it runs another job, the node discards those whose lease has expired.
      const options = { headers: { Prefer: 'respond-async' } }
      const other = await node.request('DELETE', '/others', undefined, options)
      await expect.poll(() => job(other.headers.location)).toMatchObject({ state: 'done' })

      sent.end('{"id":"b"}\n')
      const [response] = (await responded) as [IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(202)
      await expect
        .poll(() => job(response.headers.location))
        .toMatchObject({ state: 'done', result: { created: 2 } })
    } finally {
      await store.close()
      await node.stop()
    }
  })
})

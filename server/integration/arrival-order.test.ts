import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../storage/open.ts'
import type { Store } from '../storage/store.ts'
import { type ProxiedNode, startProxiedNode } from '../test-support/proxied-node.testing.ts'

// On PostgreSQL, requests share lookups. A request that arrives while an equal lookup is in flight
// must not share its result, which may precede a change that was acknowledged before the request.

let proxied: ProxiedNode
let node: ProxiedNode['node']
let proxy: ProxiedNode['proxy']
/** Another process of the same store. */
let other: Store

beforeAll(async () => {
  proxied = await startProxiedNode()
  ;({ node, proxy } = proxied)
  other = await openStore({ databaseUrl: proxied.databaseUrl }, 'tool')
})
afterAll(async () => {
  await other?.close()
  await proxied[Symbol.asyncDispose]()
})

/**
 * Sends a request, and again after `change`, which commits before the node has the response to its
 * first lookup. Returns both statuses and texts.
 *
 * @param token the token of the request, whose lookups contain its hash.
 */
async function sendAround(
  token: string,
  send: () => ReturnType<typeof node.request>,
  change: () => Promise<unknown>,
) {
  const responses = proxy.holdResponses(createHash('sha256').update(token).digest('hex'))
  try {
    const early = send()
    await expect.poll(() => responses.held).toBeGreaterThan(0)
    await change()
    const { asked } = responses
    const late = send()
    await expect.poll(() => responses.asked).toBeGreaterThan(asked)
    responses.release()
    return { early: await early, late: await late }
  } finally {
    responses.release()
  }
}

test.each([
  ['GET', '/articles/one'],
  ['GET', '/articles'],
  ['POST', '/articles'],
])(
  'a token that is revoked during its lookup is rejected by later requests: %s %s',
  async (method, path) => {
    await node.request('PUT', '/articles/one', {}, { headers: { 'If-None-Match': '*' } })
    const { json } = await node.request('POST', '/_api/token', { name: 'ci', role: 'operator' })
    const headers = { Authorization: `Bearer ${json.token}` }
    const body = method === 'POST' ? {} : undefined
    const send = () => node.request(method, path, body, { headers })
    expect((await send()).status).toBeLessThan(300)
    const { late } = await sendAround(json.token, send, () =>
      other.db.deleteFrom('tokens').where('id', '=', json.info.id).execute(),
    )
    // 503 if the lookup takes too long on a busy machine.
    expect([401, 503]).toContain(late.status)
  },
)

test('a document that is changed during a lookup is returned to later requests as changed', async () => {
  await node.request('POST', '/changed', { id: 'one', n: 1 })
  const send = () => node.request('GET', '/changed/one')
  const { late } = await sendAround(node.token, send, () =>
    other.db
      .updateTable('documents')
      .set({ body: '{"id":"one","n":2}', tag: 'new' })
      .where('collection', '=', 'changed')
      .execute(),
  )
  if (late.status !== 503) expect(late.json).toEqual({ id: 'one', n: 2 })
})

import { expect } from '@playwright/test'
import type { Gatehouse } from './open-gatehouse.ts'

const API = '/_db/_system/_api'

const list = async <T>(gatehouse: Gatehouse, resource: string) =>
  (await gatehouse.get(`${API}/${resource}`)).body as readonly T[]

/**
 * Removes the endpoints, webhooks, databases, certificates and tokens of a test with the API, and waits
 * until its listeners are closed. The audit log stays.
 *
 * @throws if the test has removed the first endpoint, or if a removal fails
 */
export async function resetGatehouse(gatehouse: Gatehouse): Promise<void> {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  const remove = async (resource: string, id: string) => {
    const { status, body } = await gatehouse.delete(`${API}/${resource}/${encodeURIComponent(id)}`)
    expect(status, `${resource} ${id}: ${JSON.stringify(body)}`).toBeLessThan(300)
  }
  for (const { endpoint, databases } of await list<{ endpoint: string; databases: string[] }>(
    gatehouse,
    'endpoint',
  )) {
    if (endpoint !== own) await remove('endpoint', endpoint)
    else if (databases.length > 0)
      await gatehouse.post(`${API}/endpoint`, { endpoint, databases: [] })
  }
  for (const { name } of await list<{ name: string }>(gatehouse, 'webhook')) {
    await remove('webhook', name)
  }
  for (const { name } of await list<{ name: string }>(gatehouse, 'database')) {
    if (name !== '_system') await remove('database', name)
  }
  for (const { name } of await list<{ name: string }>(gatehouse, 'certificate')) {
    await remove('certificate', name)
  }
  const token = await gatehouse.token()
  for (const { id, prefix } of await list<{ id: string; prefix: string }>(gatehouse, 'token')) {
    if (!token.startsWith(prefix)) await remove('token', id)
  }
  const listening = async () =>
    (await list<{ endpoint: string }>(gatehouse, 'listener')).map(({ endpoint }) => endpoint)
  await expect.poll(listening, 'the listeners of the test are closed').toEqual([own])
}

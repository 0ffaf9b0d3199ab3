import { expect, vi } from 'vitest'
import { endpointPath } from '../../../test-support/start.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import { type Call, type Change, type Model, NAMES, without } from './model.testing.ts'

type Endpoints = Model['endpoints']

/** Maximum time of a bulk change on a busy machine. A request that fails ends the wait. */
const ENDED = { timeout: 60_000, interval: 10 }

const addressOf = (folder: string, name: string) => `unix://${folder}/${name}.sock`

/** Adds or removes an endpoint. Its socket is in the folder. */
export function changeEndpoint(model: Model, random: Random, folder: string): Change {
  const name = pick(random, NAMES)
  const endpoint = addressOf(folder, name)
  const after = (endpoints: Endpoints): Model[] => [{ ...model, endpoints }]
  return endpoint in model.endpoints
    ? {
        ...{ method: 'DELETE', path: endpointPath(endpoint) },
        after: after(without(model.endpoints, endpoint)),
      }
    : {
        ...{ method: 'POST', path: '/_api/endpoint', body: { endpoint, databases: [name] } },
        after: after({ ...model.endpoints, [endpoint]: [name] }),
      }
}

/** Adds, maps and removes all endpoints in a bulk change, and waits for its end or cancels it. */
export function changeEndpoints(model: Model, random: Random, folder: string, call: Call): Change {
  const changes = NAMES.map((name) => {
    const endpoint = addressOf(folder, name)
    if (endpoint in model.endpoints && random(2) === 0) return { endpoint, remove: true as const }
    return { endpoint, databases: [pick(random, NAMES)] }
  })
  const made = (endpoints: Endpoints, change: (typeof changes)[number]): Endpoints =>
    'remove' in change
      ? without(endpoints, change.endpoint)
      : { ...endpoints, [change.endpoint]: change.databases }
  const isCancelled = random(2) === 0
  let possible = [model.endpoints]
  for (const change of changes) {
    const next = possible.map((each) => made(each, change))
    // A cancelled bulk change has made any of its changes.
    possible = isCancelled ? [...possible, ...next] : next
  }
  return {
    ...{ method: 'POST', path: '/_api/endpoint-change', body: { changes } },
    after: possible.map((endpoints) => ({ ...model, endpoints })),
    async finish({ headers: { location } }) {
      const path = String(location)
      if (isCancelled) expect((await call('DELETE', path)).status).toBe(200)
      const { state, failed, left } = await vi.waitUntil(async () => {
        const { json } = await call('GET', path)
        return json.state !== 'running' && json
      }, ENDED)
      if (isCancelled) expect(['cancelled', 'done']).toContain(state)
      else expect([state, left]).toEqual(['done', 0])
      expect(failed).toBe(0)
    },
  }
}

/** Reads the endpoints of a server without its first one. */
export async function readEndpoints(call: Call, admin: string): Promise<Endpoints> {
  const list = (await call('GET', '/_api/endpoint')).json as {
    endpoint: string
    databases: string[]
  }[]
  const others = list.filter(({ endpoint }) => endpoint !== admin)
  return Object.fromEntries(others.map(({ endpoint, databases }) => [endpoint, databases]))
}

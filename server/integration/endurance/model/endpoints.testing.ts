import { expect, vi } from 'vitest'
import { endpointPath } from '../../../test-support/start.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import {
  type Call,
  type Model,
  NAMES,
  type Operation,
  withCondition,
  without,
} from './model.testing.ts'

type Mappings = Model['endpoints']

/** Maximum time of a bulk change on a busy machine. A request that fails ends the wait. */
const ENDED = { timeout: 60_000, interval: 10 }

/** Operations on endpoints, directly, in bulk changes, and the undo of these. */
export interface Endpoints {
  change(model: Model, random: Random): Promise<Operation>
  /** Reads the endpoints of a server without the first ones. */
  read(): Promise<Mappings>
}

/**
 * Creates {@link Endpoints}.
 *
 * @param folder of the sockets
 * @param admins the first endpoint of each node
 */
export function createEndpoints(folder: string, admins: readonly string[], call: Call): Endpoints {
  /** The last bulk change that changed something, unless endpoints were changed after it. */
  let undoable: { readonly path: string; readonly before: Mappings } | undefined
  const addressOf = (name: string) => `unix://${folder}/${name}.sock`

  /** Adds, maps or removes an endpoint, in some cases only if it has a certain revision. */
  async function changeOne(model: Model, random: Random): Promise<Operation> {
    const endpoint = addressOf(pick(random, NAMES))
    const databases = [pick(random, NAMES)]
    const after = (endpoints: Mappings): Model[] => [{ ...model, endpoints }]
    const put = {
      ...{ method: 'POST', path: '/_api/endpoint', body: { endpoint, databases } },
      after: after({ ...model.endpoints, [endpoint]: databases }),
    }
    if (!(endpoint in model.endpoints)) return put
    const remove = {
      ...{ method: 'DELETE', path: endpointPath(endpoint) },
      after: after(without(model.endpoints, endpoint)),
    }
    const operation = random(2) === 0 ? put : remove
    if (random(3) > 0) return operation
    const path = `/_api/listener?endpoint=${encodeURIComponent(endpoint)}`
    const statuses: { revision: number }[] = (await call('GET', path)).json
    // The status that another node has reported may be older.
    const revision = Math.max(...statuses.map((each) => each.revision))
    return withCondition(operation, model, { tag: `"${revision}"`, other: '"0"' }, random)
  }

  /** Waits for the end of a bulk change, and returns its result. */
  const ended = (path: string) =>
    vi.waitUntil(async () => {
      const { json } = await call('GET', path)
      return json.state !== 'running' && json
    }, ENDED)

  /** Adds, maps and removes all endpoints in a bulk change, and waits for its end or cancels it. */
  function changeAll(model: Model, random: Random): Operation {
    const changes = NAMES.map((name) => {
      const endpoint = addressOf(name)
      if (endpoint in model.endpoints && random(2) === 0) return { endpoint, remove: true as const }
      return { endpoint, databases: [pick(random, NAMES)] }
    })
    const made = (endpoints: Mappings, change: (typeof changes)[number]): Mappings =>
      'remove' in change
        ? without(endpoints, change.endpoint)
        : { ...endpoints, [change.endpoint]: change.databases }
    const isCancelled = random(3) === 0
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
        const result = await ended(path)
        if (isCancelled) expect(['cancelled', 'done']).toContain(result.state)
        else expect([result.state, result.left]).toEqual(['done', 0])
        expect(result.failed).toBe(0)
        if (!isCancelled && result.made > 0) undoable = { path, before: model.endpoints }
      },
    }
  }

  /** Undoes a bulk change. */
  const undo = (model: Model, path: string, before: Mappings): Operation => ({
    ...{ method: 'POST', path: `${path}/undo`, after: [{ ...model, endpoints: before }] },
    async finish({ headers: { location } }) {
      const { state, failed, left } = await ended(String(location))
      expect([state, failed, left]).toEqual(['done', 0, 0])
    },
  })

  return {
    async change(model, random) {
      const last = undoable
      undoable = undefined
      if (last !== undefined) return undo(model, last.path, last.before)
      return random(2) === 0 ? changeOne(model, random) : changeAll(model, random)
    },
    async read() {
      const list = (await call('GET', '/_api/endpoint')).json as {
        endpoint: string
        databases: string[]
      }[]
      const others = list.filter(({ endpoint }) => !admins.includes(endpoint))
      return Object.fromEntries(others.map(({ endpoint, databases }) => [endpoint, databases]))
    },
  }
}

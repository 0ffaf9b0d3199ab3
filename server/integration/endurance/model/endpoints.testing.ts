import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { expect, vi } from 'vitest'
import type { ListenerStatus } from '../../../contract/endpoints/listener.ts'
import { freePorts } from '../../../endpoints/listeners/free-ports.testing.ts'
import type { SocketAddress } from '../../../endpoints/listeners/keep-alive-client.testing.ts'
import { endpointPath } from '../../../test-support/start.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import {
  type Call,
  type CommandOperation,
  ENDED,
  type Model,
  NAMES,
  type Operation,
  withCondition,
  without,
} from './model.testing.ts'

type Mappings = Model['endpoints']

/** Operations on endpoints, directly, by commands, in bulk changes, and the undo of these. */
export interface Endpoints {
  change(model: Model, random: Random): Promise<Operation | CommandOperation>
  /** Reads the endpoints of a server without the first ones. */
  read(): Promise<Mappings>
  /** Closes the connections and the programs on the ports of an interrupted operation. */
  cleanUp(): void
}

/** An endpoint of the model. */
interface Address {
  /** The canonical form. */
  readonly text: string
  readonly socket: SocketAddress
}

/** Connects to an endpoint. */
async function open(where: SocketAddress): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', ...where })
  await once(socket, 'connect')
  return socket
}

/**
 * Creates {@link Endpoints}: one on a port, the others on Unix sockets.
 *
 * @param folder of the sockets
 * @param admins the endpoints that the nodes start with
 * @param token of the operator
 */
export async function createEndpoints(
  folder: string,
  admins: readonly string[],
  token: string,
  call: Call,
): Promise<Endpoints> {
  const [port = 0] = await freePorts(1)
  const addresses = NAMES.map((name, at): Address => {
    if (at === 0) return { text: `tcp://127.0.0.1:${port}`, socket: { port } }
    const path = `${folder}/${name}.sock`
    return { text: `unix://${path}`, socket: { path } }
  })
  const [onPort] = addresses as [Address]
  /** The last bulk change that changed something, unless endpoints were changed after it. */
  let undoable: { readonly path: string; readonly before: Mappings } | undefined
  let release = () => {}

  const read = async (): Promise<Mappings> => {
    const list = (await call('GET', '/_api/endpoint')).json as {
      endpoint: string
      databases: string[]
    }[]
    const others = list.filter(({ endpoint }) => !admins.includes(endpoint))
    return Object.fromEntries(others.map(({ endpoint, databases }) => [endpoint, databases]))
  }

  /** Adds, maps or removes an endpoint, in some cases only if it has a certain revision. */
  async function changeOne(model: Model, random: Random): Promise<Operation> {
    const endpoint = pick(random, addresses).text
    const databases = [pick(random, NAMES)]
    const after = (endpoints: Mappings): Model[] => [{ ...model, endpoints }]
    const put = {
      method: 'POST',
      path: '/_api/endpoint',
      body: { endpoint, databases },
      after: after({ ...model.endpoints, [endpoint]: databases }),
    }
    if (!(endpoint in model.endpoints)) return put
    const remove = {
      method: 'DELETE',
      path: endpointPath(endpoint),
      after: after(without(model.endpoints, endpoint)),
    }
    const operation = random(2) === 0 ? put : remove
    if (random(3) > 0) return operation
    const statuses = await statusesOf(endpoint)
    // The status that another node has reported may be older.
    const revision = Math.max(...statuses.map((each) => each.revision))
    return withCondition(operation, model, { tag: `"${revision}"`, other: '"0"' }, random)
  }

  const statusesOf = async (endpoint: string): Promise<ListenerStatus[]> =>
    (await call('GET', `/_api/listener?endpoint=${encodeURIComponent(endpoint)}`)).json

  /** Waits until the node has applied a command. */
  const untilApplied = (endpoints: Mappings) =>
    vi.waitUntil(async () => isDeepStrictEqual(await read(), endpoints), ENDED)

  /** Adds, maps or removes an endpoint by a command. */
  function changeByCommand(model: Model, random: Random): CommandOperation {
    const endpoint = pick(random, addresses).text
    const isRemoval = endpoint in model.endpoints && random(2) === 0
    const databases = [pick(random, NAMES)]
    const endpoints = isRemoval
      ? without(model.endpoints, endpoint)
      : { ...model.endpoints, [endpoint]: databases }
    return {
      command: isRemoval
        ? ['endpoint', 'remove', endpoint]
        : ['endpoint', 'add', endpoint, '--databases', databases.join(',')],
      after: [{ ...model, endpoints }],
      async finish({ text }) {
        expect(text).toBe(`${endpoint}\n`)
        await untilApplied(endpoints)
      },
    }
  }

  /** Lets another program listen on the port, until the operation ends. */
  async function takePort(): Promise<void> {
    const program = createServer((socket) => socket.destroy())
    program.listen({ port, host: '127.0.0.1' })
    await once(program, 'listening')
    release = () => program.close()
  }

  const isTaken = { status: 409, json: { systemCode: 'EADDRINUSE' } }

  /** Adds the endpoint whose port another program has. */
  const addTaken = (model: Model, databases: readonly string[]): Operation => ({
    method: 'POST',
    path: '/_api/endpoint',
    body: { endpoint: onPort.text, databases },
    status: 409,
    after: [model],
    async finish({ json }) {
      expect(json).toMatchObject(isTaken.json)
    },
  })

  /**
   * Stores the endpoint whose port another program has by a command, and retries its listener
   * before and after the program ends.
   */
  function retryTaken(model: Model, databases: readonly string[]): CommandOperation {
    const { text: endpoint, socket } = onPort
    const endpoints = { ...model.endpoints, [endpoint]: databases }
    const retry = () => call('POST', `/_api/listener/${encodeURIComponent(endpoint)}/retry`)
    return {
      command: ['endpoint', 'add', endpoint, '--databases', databases.join(',')],
      after: [{ ...model, endpoints }],
      async finish() {
        await untilApplied(endpoints)
        expect(await retry()).toMatchObject(isTaken)
        release()
        const { status } = await retry()
        // Another node may have opened it by an automatic retry in between.
        if (status !== 200) {
          await vi.waitUntil(async () => {
            const states = (await statusesOf(endpoint)).map(({ state }) => state)
            return isDeepStrictEqual(states.sort(), ['elsewhere', 'listening'])
          }, ENDED)
        }
        const connection = await open(socket)
        connection.destroy()
      },
    }
  }

  /**
   * Removes an endpoint while a request is in progress, and closes its connection. Its database
   * exists.
   */
  async function removeAndClose(
    model: Model,
    { text: endpoint, socket }: Address,
  ): Promise<Operation> {
    // Its listener may have failed while another program had the port.
    await call('POST', `/_api/listener/${encodeURIComponent(endpoint)}/retry`)
    const connection = await vi.waitUntil(() => open(socket).catch(() => undefined), ENDED)
    release = () => void connection.destroy()
    // The server may reset it.
    connection.on('error', () => {})
    connection.write(
      'POST /things HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n' +
        `Authorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n`,
    )
    expect(String(await once(connection, 'data'))).toMatch(/^HTTP\/1.1 100 /)
    const closed = once(connection, 'close')
    const close = () => call('POST', `/_api/listener/${encodeURIComponent(endpoint)}/close`)
    return {
      method: 'DELETE',
      path: endpointPath(endpoint),
      after: [{ ...model, endpoints: without(model.endpoints, endpoint) }],
      async finish() {
        // Another node reports its listener some time later.
        const statuses = await vi.waitUntil(async () => {
          const found = await statusesOf(endpoint)
          return found.some(({ state }) => state === 'draining') && found
        }, ENDED)
        expect(statuses).toContainEqual(
          expect.objectContaining({ state: 'draining', connections: 1 }),
        )
        expect(connection.closed).toBe(false)
        expect((await close()).status).toBe(200)
        await closed
        await vi.waitUntil(async () => (await close()).status === 404, ENDED)
      },
    }
  }

  /** Returns a bulk change of endpoints with these mappings; undefined removes the endpoint. */
  function bulkChange(
    model: Model,
    changes: readonly (readonly [endpoint: string, databases: readonly string[] | undefined])[],
  ) {
    let possible = [model.endpoints]
    for (const [endpoint, databases] of changes) {
      const made = (endpoints: Mappings): Mappings =>
        databases === undefined
          ? without(endpoints, endpoint)
          : { ...endpoints, [endpoint]: databases }
      // One that is interrupted has made any of its changes.
      possible = [...possible, ...possible.map(made)]
    }
    const partial = possible.map((endpoints) => ({ ...model, endpoints }))
    return { method: 'POST', after: partial.slice(-1), partial, between: partial } as const
  }

  /** Adds, maps and removes all endpoints in a bulk change. */
  function changeAll(model: Model, random: Random): Operation {
    const changes = addresses.map(({ text }) => {
      const isRemoved = text in model.endpoints && random(2) === 0
      return [text, isRemoved ? undefined : [pick(random, NAMES)]] as const
    })
    return {
      ...bulkChange(model, changes),
      path: '/_api/endpoint-change',
      body: {
        changes: changes.map(([endpoint, databases]) =>
          databases === undefined ? { endpoint, remove: true } : { endpoint, databases },
        ),
      },
      async finish({ headers, json }) {
        const states = statesOf(json)
        expect(states).toHaveLength(changes.length)
        expect(states).not.toContain('failed')
        if (states.includes('made')) {
          const path = `/_api/endpoint-change/${headers['gatehouse-change']}`
          undoable = { path, before: model.endpoints }
        }
      },
    }
  }

  /** Undoes a bulk change. */
  const undo = (model: Model, path: string, before: Mappings): Operation => ({
    ...bulkChange(
      model,
      addresses.map(({ text }) => [text, before[text]] as const),
    ),
    path: `${path}/undo`,
    finish: async ({ json }) => expect(statesOf(json)).not.toContain('failed'),
  })

  return {
    async change(model, random) {
      const last = undoable
      undoable = undefined
      if (last !== undefined) return undo(model, last.path, last.before)
      const removable = addresses.filter(({ text }) => {
        const [database = ''] = model.endpoints[text] ?? []
        return database in model.databases
      })
      switch (random(8)) {
        case 0:
        case 1:
          return changeOne(model, random)
        case 2:
          return changeByCommand(model, random)
        case 3:
        case 4: {
          if (onPort.text in model.endpoints) return changeAll(model, random)
          await takePort()
          const databases = [pick(random, NAMES)]
          return random(2) === 0 ? addTaken(model, databases) : retryTaken(model, databases)
        }
        case 5:
          return removable.length === 0
            ? changeOne(model, random)
            : removeAndClose(model, pick(random, removable))
        default:
          return changeAll(model, random)
      }
    },
    read,
    cleanUp() {
      release()
      release = () => {}
    },
  }
}

const statesOf = (outcomes: readonly { state: string }[]) => outcomes.map(({ state }) => state)

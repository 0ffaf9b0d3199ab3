import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { Config } from '../../cli/config.ts'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../../contract/endpoints/listener.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import {
  endpointPath,
  startForTest,
  type TestNode,
  type TestResponse,
} from '../../test-support/start.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'

export const DONE = { result: true, error: false, code: 200 }

/** The environment of a test of endpoints on real sockets, new for each test. */
export interface EndpointFixture {
  /** A temporary folder. */
  readonly folder: string
  /** A free port. */
  readonly port: number
  /** An endpoint on {@link port}: `tcp://127.0.0.1:<port>`. */
  readonly address: string
  /** Starts a node, which stops after the test. */
  start(settings?: Partial<Config>): Promise<TestNode>
  /** Simulates another program, until the test ends: listens and sends `mine` to each client. */
  occupy(where: ListenOptions): Promise<Server>
  /** Ends the program that was started last. */
  release(): void
}

/** Returns an {@link EndpointFixture} and registers the hooks that set it up and remove it. */
export function createEndpointFixture(): EndpointFixture {
  let folder = ''
  let port = 0
  const programs: Server[] = []
  const nodes: TestNode[] = []

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-endpoints-'))
    ;[port = 0] = await freePorts(1)
  })
  afterEach(async () => {
    for (const server of programs.splice(0)) server.close()
    await Promise.all(nodes.splice(0).map((node) => node.stop()))
    await killProcesses()
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    get folder() {
      return folder
    },
    get port() {
      return port
    },
    get address() {
      return `tcp://127.0.0.1:${port}`
    },
    async start(settings = {}) {
      const node = await startForTest(settings)
      nodes.push(node)
      return node
    },
    async occupy(where) {
      const server = createServer((socket) => {
        // A probe may have disconnected already.
        socket.on('error', () => {})
        socket.end('mine')
      })
      server.listen({ ...where, exclusive: true })
      programs.push(server)
      await once(server, 'listening')
      return server
    },
    release: () => void programs.pop()?.close(),
  }
}

/** Connects and returns the first data, such as that of {@link EndpointFixture.occupy}. */
export async function dataFrom(
  where: { port: number; host: string } | { path: string },
): Promise<string> {
  const socket = connect(where).setEncoding('utf8')
  const [text] = (await once(socket, 'data')) as [string]
  return text
}

export const add = (node: TestNode, endpoint: string): Promise<TestResponse> =>
  node.request('POST', '/_api/endpoint', { endpoint, databases: [] })

export const remove = (node: TestNode, endpoint: string): Promise<TestResponse> =>
  node.request('DELETE', endpointPath(endpoint))

/** Returns the addresses of the endpoints. */
export const addressesOf = async (node: TestNode): Promise<string[]> =>
  ((await node.request('GET', '/_api/endpoint')).json as EndpointRecord[]).map(
    (each) => each.endpoint,
  )

export const listenersOf = async (node: TestNode): Promise<ListenerStatus[]> =>
  (await node.request('GET', '/_api/listener')).json

export const listenerOf = async (
  node: TestNode,
  address: string,
): Promise<ListenerStatus | undefined> =>
  (await listenersOf(node)).find(({ endpoint }) => endpoint === address)

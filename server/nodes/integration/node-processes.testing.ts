import type { ListenerStatus } from '../../contract/endpoints/listener.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { sendUntilConfirmed } from '../../test-support/not-confirmed.testing.ts'
import { type ServerProcess, startProcess } from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

/** The operator key for the local provider of {@link startNodes}. */
export const OPERATOR_KEY = 'operator-key-of-the-tests-and-nothing-else'

/** Secrets that must be the same on all nodes of one database. */
export const SECRETS = {
  GATEHOUSE_OPERATOR_KEY: OPERATOR_KEY,
  GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}

/** A node in its own process, with its own first endpoint. */
export interface NodeProcess {
  readonly name: string
  /** The current process, or the last one. */
  readonly process: ServerProcess
  /** Address of its first endpoint. */
  readonly address: string
  readonly port: number
  /** An API token of the operator with all permissions. */
  readonly token: string
  /**
   * Sends a request through its first endpoint with the operator's token. Repeats it while the node
   * cannot confirm its state, unless `once` is set.
   */
  request(
    method: string,
    path: string,
    body?: unknown,
    options?: NodeRequestOptions,
  ): Promise<TestResponse>
  /** Stops the process with a signal; resolves when it has exited. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts the node again after {@link end}, with another first endpoint. */
  start(): Promise<void>
}

export interface NodeRequestOptions {
  readonly headers?: Record<string, string>
  /** Port to use instead of that of the first endpoint. */
  readonly port?: number
  /** Whether to return the 503 of a node that cannot confirm its state. */
  readonly once?: boolean
}

/**
 * Starts nodes on one PostgreSQL database: the first creates the tables, then the others start
 * concurrently. They run on one machine, so only one node can open each port.
 *
 * @param urls the URL of the database, or one per node.
 * @param nodeFlags flags of Node.js.
 */
export async function startNodes(
  urls: string | readonly string[],
  names: readonly string[],
  flags: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Promise<NodeProcess[]> {
  const urlOf = (at: number) => (typeof urls === 'string' ? urls : (urls[at] ?? ''))
  const ports = await freePorts(names.length)
  let token = ''
  const make = async (name: string, at: number): Promise<NodeProcess> => {
    let port = ports[at] ?? 0
    let process = await startNode(urlOf(at), name, port, flags, nodeFlags)
    let ended = false
    return {
      name,
      get process() {
        return process
      },
      get address() {
        return `tcp://127.0.0.1:${port}`
      },
      get port() {
        return port
      },
      get token() {
        return token
      },
      request(method, path, body, options = {}) {
        const send = () =>
          sendRequest(options.port ?? port, method, path, {
            body,
            headers: { Authorization: `Bearer ${token}`, ...options.headers },
          })
        return options.once === true ? send() : sendUntilConfirmed(send)
      },
      async end(signal) {
        ended = true
        process.signal(signal)
        await process.exit
      },
      async start() {
        if (!ended) return
        ;[port = 0] = await freePorts(1)
        process = await startNode(urlOf(at), name, port, flags, nodeFlags)
        ended = false
      },
    }
  }
  const [first = '', ...rest] = names
  const nodes = [await make(first, 0)]
  nodes.push(...(await Promise.all(rest.map((name, at) => make(name, at + 1)))))
  token = await makeToken({ data: '', databaseUrl: urlOf(0) })
  return nodes
}

/**
 * Returns the listeners of an endpoint as a node reports them, such as `a listening`. Listeners of
 * a dead node are `silent`.
 */
export async function statesAt(node: NodeProcess, address: string): Promise<string[]> {
  const path = `/_db/_system/_api/listener?endpoint=${encodeURIComponent(address)}`
  const { json } = await node.request('GET', path)
  return (json as ListenerStatus[]).map(
    ({ node: name, state, silentSince }) =>
      `${name} ${silentSince === undefined ? state : 'silent'}`,
  )
}

/** Starts one node with a first endpoint on a port. */
export const startNode = (
  databaseUrl: string,
  name: string,
  port: number,
  flags: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Promise<ServerProcess> =>
  startProcess(
    [
      ...['--database-url', databaseUrl, '--node', name, '--drain', '1'],
      ...['--endpoint', `tcp://127.0.0.1:${port}`, ...flags],
    ],
    { env: SECRETS, nodeFlags },
  )

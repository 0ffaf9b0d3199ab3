import type { ListenerStatus } from '../contract/listener.ts'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { type ServerProcess, startProcess } from '../server-process.testing.ts'
import { type Answer, ask, makeToken } from '../start.testing.ts'

/** What the local provider of {@link startNodes} asks for. */
export const OPERATOR_KEY = 'operator-key-of-the-tests-and-nothing-else'

/** What nodes of one store must be given, the same to each. */
export const SECRETS = {
  GATEHOUSE_OPERATOR_KEY: OPERATOR_KEY,
  GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}

/** A node in a process of its own, with a first endpoint of its own. */
export interface NodeProcess {
  readonly name: string
  /** The process that runs now, or ran last. */
  readonly process: ServerProcess
  /** Of its first endpoint. */
  readonly address: string
  readonly port: number
  /** An API token of the operator, for everything. */
  readonly token: string
  /** Asks through its first endpoint with the token of the operator. */
  ask(method: string, path: string, body?: unknown, options?: NodeAsk): Promise<Answer>
  /** Ends it by a signal; resolves when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it again where it has ended, with another first endpoint: the one before is taken over. */
  start(): Promise<void>
}

/** What else a request may carry. */
export interface NodeAsk {
  readonly headers?: Record<string, string>
  /** Another port than that of the first endpoint. */
  readonly port?: number
}

/**
 * Starts nodes on one PostgreSQL: the first makes the store, then the others all at once. They are on
 * this machine, so each port is with one of them.
 *
 * @param urls that of the store, or one for each node.
 */
export async function startNodes(
  urls: string | readonly string[],
  names: readonly string[],
  flags: readonly string[] = [],
): Promise<NodeProcess[]> {
  const urlOf = (at: number) => (typeof urls === 'string' ? urls : (urls[at] ?? ''))
  const ports = await freePorts(names.length)
  let token = ''
  const make = async (name: string, at: number): Promise<NodeProcess> => {
    let port = ports[at] ?? 0
    let process = await startNode(urlOf(at), name, port, flags)
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
      ask: (method, path, body, options = {}) =>
        ask(options.port ?? port, method, path, {
          body,
          headers: { Authorization: `Bearer ${token}`, ...options.headers },
        }),
      async end(signal) {
        ended = true
        process.signal(signal)
        await process.exit
      },
      async start() {
        if (!ended) return
        ;[port = 0] = await freePorts(1)
        process = await startNode(urlOf(at), name, port, flags)
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

/** What a node says of the listeners of an endpoint, such as `a listening`; one of the dead is `silent`. */
export async function statesAt(node: NodeProcess, address: string): Promise<string[]> {
  const path = `/_db/_system/_api/listener?endpoint=${encodeURIComponent(address)}`
  const { json } = await node.ask('GET', path)
  return (json as ListenerStatus[]).map(
    ({ node: name, state, silentSince }) =>
      `${name} ${silentSince === undefined ? state : 'silent'}`,
  )
}

/** Starts one node, with a first endpoint on that port. */
export const startNode = (
  databaseUrl: string,
  name: string,
  port: number,
  flags: readonly string[] = [],
): Promise<ServerProcess> =>
  startProcess(
    [
      ...['--database-url', databaseUrl, '--node', name, '--drain', '1'],
      ...['--endpoint', `tcp://127.0.0.1:${port}`, ...flags],
    ],
    { env: SECRETS },
  )

import { freePorts } from '../endpoints/free-ports.testing.ts'
import { type ServerProcess, startProcess } from '../server-process.testing.ts'
import { type Answer, ask, makeToken } from '../start.testing.ts'

/** What the local provider of {@link startNodes} asks for. */
export const OPERATOR_KEY = 'operator-key-of-tests-alone'

/** What nodes of one store must be given, the same to each. */
export const SECRETS = {
  GATEHOUSE_OPERATOR_KEY: OPERATOR_KEY,
  GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}

/** A node in a process of its own, with a first endpoint of its own. */
export interface NodeProcess {
  readonly name: string
  readonly process: ServerProcess
  /** Of its first endpoint. */
  readonly address: string
  readonly port: number
  /** An API token of the operator, for everything. */
  readonly token: string
  /** Asks through its first endpoint with the token of the operator. */
  ask(method: string, path: string, body?: unknown, options?: NodeAsk): Promise<Answer>
}

/** What else a request may carry. */
export interface NodeAsk {
  readonly headers?: Record<string, string>
  /** Another port than that of the first endpoint. */
  readonly port?: number
}

/**
 * Starts nodes on one PostgreSQL, one after the other: the first makes the store. They are on this
 * machine, so each port is with one of them.
 */
export async function startNodes(
  databaseUrl: string,
  names: readonly string[],
  flags: readonly string[] = [],
): Promise<NodeProcess[]> {
  const ports = await freePorts(names.length)
  const nodes: NodeProcess[] = []
  let token = ''
  for (const [at, name] of names.entries()) {
    const port = ports[at] ?? 0
    nodes.push({
      name,
      process: await startNode(databaseUrl, name, port, flags),
      address: `tcp://127.0.0.1:${port}`,
      port,
      get token() {
        return token
      },
      ask: (method, path, body, options = {}) =>
        ask(options.port ?? port, method, path, {
          body,
          headers: { Authorization: `Bearer ${token}`, ...options.headers },
        }),
    })
  }
  token = await makeToken({ data: '', databaseUrl })
  return nodes
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

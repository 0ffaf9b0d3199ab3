import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startOwnPostgres } from '../../../server/storage/test-support/postgres-server.testing.ts'
import { freePort } from './free-port.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** The operator key of the nodes. */
export const NODES_KEY = 'operator-key-of-the-journeys-alone'

/** One of several nodes. */
export interface NodeOfSeveral {
  readonly name: string
  /** The URL of its first endpoint. */
  readonly url: string
  /** Kills it, as a power cut would. */
  kill(): Promise<void>
}

/** Several nodes that share a new PostgreSQL. */
export interface Cluster {
  readonly nodes: readonly NodeOfSeveral[]
  /** Stops the nodes and PostgreSQL and removes their data. */
  remove(): Promise<void>
}

/**
 * Starts nodes that share a PostgreSQL, each with its own first endpoint, on this machine.
 *
 * @param homes the address of the host name `home.test` for each node, by node name, as if each
 * machine had its own address.
 */
export async function startCluster(
  worker: number,
  homes: Readonly<Record<string, string>>,
): Promise<Cluster> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const end of undo.reverse()) await end()
  }
  let printed = ''
  try {
    const postgres = await startOwnPostgres()
    undo.push(() => postgres.remove())
    const data = await mkdtemp(path.join(tmpdir(), 'gatehouse-e2e-nodes-'))
    undo.push(() => rm(data, { recursive: true, force: true }))
    const start = async ([name, home]: [string, string]): Promise<NodeOfSeveral> => {
      const port = await freePort(worker)
      const server: ServerProcess = await startServer({
        port,
        data: path.join(data, name),
        flags: ['--database-url', postgres.url, '--node', name],
        env: {
          GATEHOUSE_OPERATOR_KEY: NODES_KEY,
          GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
          NODE_OPTIONS: `--import=${resolverModule(home)}`,
        },
        print: (text) => {
          printed += text
        },
      })
      undo.push(() => server.kill())
      return { name, url: `http://127.0.0.1:${port}`, kill: () => server.kill() }
    }
    // The first node creates the store.
    const [first, ...rest] = Object.entries(homes)
    const nodes = first === undefined ? [] : [await start(first)]
    nodes.push(...(await Promise.all(rest.map(start))))
    return { nodes, remove }
  } catch (error) {
    await remove()
    throw new Error(`the nodes did not start:\n${printed}`, { cause: error })
  }
}

/** Returns a module that resolves `home.test` to an address in the process that imports it. */
function resolverModule(home: string): string {
  const script = `
    import dns from 'node:dns/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { lookup } = dns
    dns.lookup = async (host, options) =>
      host === 'home.test' ? { address: '${home}', family: 4 } : lookup(host, options)
    syncBuiltinESMExports()`
  return `data:text/javascript;base64,${Buffer.from(script).toString('base64')}`
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startOwnPostgres } from '../../server/storage/postgres-server.testing.ts'
import { freePort } from './free-port.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** What the nodes' local provider asks for. */
export const NODES_KEY = 'operator-key-of-the-journeys-alone'

/** One of several nodes. */
export interface NodeOfSeveral {
  readonly name: string
  /** Its first endpoint as a browser names it. */
  readonly url: string
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>
}

/** Several nodes on a PostgreSQL of their own. */
export interface SeveralNodes {
  readonly nodes: readonly NodeOfSeveral[]
  /** Ends all of it, with its data. */
  remove(): Promise<void>
}

/**
 * Starts nodes that share a PostgreSQL, each with a first endpoint of its own, on this machine.
 *
 * @param homes where the host name `home.test` leads at each node, by its name: as if each machine had
 * an address of its own.
 */
export async function startSeveralNodes(
  worker: number,
  homes: Readonly<Record<string, string>>,
): Promise<SeveralNodes> {
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
          NODE_OPTIONS: `--import=${leadingTo(home)}`,
        },
        print: (text) => {
          printed += text
        },
      })
      undo.push(() => server.kill())
      return { name, url: `http://127.0.0.1:${port}`, kill: () => server.kill() }
    }
    // The first one makes the store.
    const [first, ...rest] = Object.entries(homes)
    const nodes = first === undefined ? [] : [await start(first)]
    nodes.push(...(await Promise.all(rest.map(start))))
    return { nodes, remove }
  } catch (error) {
    await remove()
    throw new Error(`the nodes did not start:\n${printed}`, { cause: error })
  }
}

/** A module that makes `home.test` lead to an address, in the process that imports it. */
function leadingTo(home: string): string {
  const script = `
    import dns from 'node:dns/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { lookup } = dns
    dns.lookup = async (host, options) =>
      host === 'home.test' ? { address: '${home}', family: 4 } : lookup(host, options)
    syncBuiltinESMExports()`
  return `data:text/javascript;base64,${Buffer.from(script).toString('base64')}`
}

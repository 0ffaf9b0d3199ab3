import { SECRETS } from '../nodes/integration/node-processes.testing.ts'
import { makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { startTcpProxy, type TcpProxy } from '../storage/test-support/tcp-proxy.testing.ts'
import { startForTest, type TestNode } from './start.testing.ts'

/** A node that reaches PostgreSQL through a proxy. */
export interface ProxiedNode extends AsyncDisposable {
  readonly node: TestNode
  readonly proxy: TcpProxy
  /** URL of the database without the proxy. */
  readonly databaseUrl: string
}

export async function startProxiedNode(): Promise<ProxiedNode> {
  await using opened = new AsyncDisposableStack()
  const database = await makeDatabase()
  opened.defer(database.remove)
  const url = new URL(database.databaseUrl)
  const proxy = await startTcpProxy(Number(url.port))
  opened.defer(proxy.close)
  url.port = String(proxy.port)
  const node = await startForTest({ databaseUrl: url.href, ...SECRETS })
  opened.defer(node.stop)
  const stack = opened.move()
  return {
    node,
    proxy,
    databaseUrl: database.databaseUrl,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

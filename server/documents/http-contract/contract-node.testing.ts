import { afterAll, beforeAll, expect } from 'vitest'
import { createRecorder } from '../../audit/record.ts'
import { createTokenByCommand } from '../../cli/commands/token-create.ts'
import type { EngineName } from '../../storage/engine.ts'
import { type ApiOperation, parseDescription } from '../../test-support/api-description.testing.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { expectDescribed, operationOf } from '../../test-support/expect-described.testing.ts'
import { sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

/** A node with the databases `blog` and `shop`. */
export interface ContractNode {
  readonly node: EngineNode
  /** Tokens of the roles `viewer` and `operator`, and of an operator `of blog`. */
  readonly tokens: ReadonlyMap<string, string>
  /** Sends a request to `blog` with one of the {@link tokens}. */
  as(
    who: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ): Promise<TestResponse>
  /** Sends a request to `blog` as operator. */
  by(method: string, path: string, body?: unknown, headers?: object): Promise<TestResponse>
  /** Creates an article; returns the response. */
  created(body: object): Promise<TestResponse>
}

/**
 * Declares tests of docs/http-api.md, "Conventions" and "Documents", by plain HTTP against a node
 * of each engine, by default both. The tests share the node. The OpenAPI document must describe every
 * response.
 */
export function forEachContractNode(
  suite: (fixture: ContractNode) => void,
  engines?: readonly EngineName[],
): void {
  forEachEngineNode((start) => {
    let node: EngineNode
    let operations: readonly ApiOperation[]
    const tokens = new Map<string, string>()

    beforeAll(async () => {
      node = await start()
      for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
      operations = parseDescription((await node.request('GET', '/_api/openapi.json')).text)
      const store = await node.openStore()
      const flags: Record<string, Record<string, string>> = {
        viewer: { name: 'v', role: 'viewer' },
        operator: { name: 'o', role: 'operator' },
        'of blog': { name: 'b', role: 'operator', databases: 'blog' },
      }
      for (const [name, each] of Object.entries(flags)) {
        tokens.set(name, await createTokenByCommand(store, createRecorder(), each, Date.now()))
      }
      await store.close()
    })
    afterAll(() => node.stop())

    const as: ContractNode['as'] = async (who, method, path, body, headers) => {
      const response = await sendRequest(node.port, method, `/_db/blog${path}`, {
        body,
        headers: { Authorization: `Bearer ${tokens.get(who)}`, ...headers },
      })
      const operation = operationOf(operations, method, path)
      // Names such as /metrics are reserved.
      const isReserved = response.status === 405
      if (operation !== undefined && !isReserved) expectDescribed(operation, response)
      return response
    }
    const by: ContractNode['by'] = (...request) => as('operator', ...request)
    suite({
      get node() {
        return node
      },
      tokens,
      as,
      by,
      async created(body) {
        const response = await by('POST', '/articles', body)
        expect(response.status).toBe(201)
        return response
      },
    })
  }, engines)
}

import { expect } from 'vitest'
import type { NodeProcess } from '../../nodes/integration/node-processes.testing.ts'
import { pick, type Random } from './settings.testing.ts'

/** Number of revoked tokens that are tried again after each revocation. */
const KEPT = 3

/** A client that creates and revokes tokens on any node. */
export interface TokenRevoker {
  /**
   * Creates a token on one node and revokes it on one. Checks that the nodes accept a change with
   * the token in between, and reject it after an acknowledged revocation, along with earlier tokens.
   * Returns whether the revocation was acknowledged.
   */
  revokeOne(): Promise<boolean>
  /** Number of acknowledged revocations. */
  readonly acknowledged: number
}

/** Creates a {@link TokenRevoker} of running or disrupted nodes. */
export function createTokenRevoker(nodes: readonly NodeProcess[], random: Random): TokenRevoker {
  const revoked: string[] = []
  let acknowledged = 0

  /** Returns the response of any node; undefined if the node does not respond. */
  const send = (method: string, path: string, body?: unknown) =>
    pick(random, nodes)
      .request(method, path, body)
      .catch(() => undefined)

  /** Makes a change with each token on each node. Those that respond must give these statuses. */
  async function expectStatuses(tokens: readonly string[], statuses: readonly number[]) {
    const use = (node: NodeProcess, token: string) => {
      const headers = { Authorization: `Bearer ${token}` }
      return node.request('POST', '/revoked', {}, { headers }).catch(() => undefined)
    }
    const uses = nodes.flatMap((node) => tokens.map((token) => use(node, token)))
    for (const response of await Promise.all(uses)) {
      if (response !== undefined) expect(statuses, response.text).toContain(response.status)
    }
  }

  return {
    get acknowledged() {
      return acknowledged
    },
    async revokeOne() {
      const created = await send('POST', '/_api/token', { name: 'revoked', role: 'operator' })
      if (created?.status !== 201) return false
      const { token, info } = created.json
      // 503 while a node does not reach PostgreSQL.
      await expectStatuses([token], [201, 503])
      if ((await send('DELETE', `/_api/token/${info.id}`))?.status !== 200) return false
      acknowledged++
      revoked.push(token)
      if (revoked.length > KEPT) revoked.shift()
      // 429 after many requests with invalid tokens.
      await expectStatuses(revoked, [401, 429, 503])
      return true
    },
  }
}

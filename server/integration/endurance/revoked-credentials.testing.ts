import { expect } from 'vitest'
import type { NodeProcess } from '../../nodes/integration/node-processes.testing.ts'
import { sendRequest } from '../../test-support/start.testing.ts'
import { pick, type Random } from './settings.testing.ts'

/** Number of revoked credentials that are tried again after each revocation. */
const KEPT = 3

/** A token or session that a request can end. */
interface Credential {
  readonly headers: Record<string, string>
  /** Path whose DELETE revokes it. */
  readonly path: string
}

/** A session of another person, and the headers of requests with it. */
export interface StoredSession {
  readonly person: string
  readonly id: string
  readonly headers: Record<string, string>
}

/** A client that creates tokens, and revokes tokens and sessions, on any node. */
export interface Revoker {
  /**
   * Revokes a new token, or a session, on one node. Checks that the nodes accept a change with it
   * before, and reject it after an acknowledged revocation, along with credentials that were revoked
   * earlier. Returns whether the revocation was acknowledged.
   */
  revokeOne(): Promise<boolean>
  /** Number of acknowledged revocations. */
  readonly acknowledged: number
}

/**
 * Creates a {@link Revoker} of running or disrupted nodes.
 *
 * @param sessions to revoke, one after the other; tokens are created.
 */
export function createRevoker(
  nodes: readonly NodeProcess[],
  sessions: readonly StoredSession[],
  random: Random,
): Revoker {
  const left = [...sessions]
  const revoked: Credential[] = []
  let acknowledged = 0

  /** Returns the response of any node; undefined if the node does not respond. */
  const send = (method: string, path: string, body?: unknown) =>
    pick(random, nodes)
      .request(method, path, body, { once: true })
      .catch(() => undefined)

  async function createToken(): Promise<Credential | undefined> {
    const created = await send('POST', '/_api/token', { name: 'revoked', role: 'operator' })
    if (created?.status !== 201) return undefined
    const { token, info } = created.json
    return { headers: { Authorization: `Bearer ${token}` }, path: `/_api/token/${info.id}` }
  }

  function takeSession(): Credential | undefined {
    const session = left.pop()
    if (session === undefined) return undefined
    const { person, id, headers } = session
    return { headers, path: `/_api/user/${person}/session/${id}` }
  }

  /** Makes a change with each credential on each node. Those that respond must give these statuses. */
  async function expectStatuses(
    credentials: readonly Credential[],
    statuses: readonly number[],
  ): Promise<void> {
    const use = (node: NodeProcess, { headers }: Credential) =>
      sendRequest(node.port, 'POST', '/revoked', { body: {}, headers }).catch(() => undefined)
    const uses = nodes.flatMap((node) => credentials.map((each) => use(node, each)))
    for (const response of await Promise.all(uses)) {
      if (response !== undefined) expect(statuses, response.text).toContain(response.status)
    }
  }

  return {
    get acknowledged() {
      return acknowledged
    },
    async revokeOne() {
      const credential = (random(2) === 0 ? takeSession() : undefined) ?? (await createToken())
      if (credential === undefined) return false
      // 503 while a node does not reach PostgreSQL.
      await expectStatuses([credential], [201, 503])
      if ((await send('DELETE', credential.path))?.status !== 200) return false
      acknowledged++
      revoked.push(credential)
      if (revoked.length > KEPT) revoked.shift()
      // 429 after many requests with invalid credentials.
      await expectStatuses(revoked, [401, 429, 503])
      return true
    },
  }
}

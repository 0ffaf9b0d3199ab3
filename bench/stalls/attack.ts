import type { RequestOptions, TestResponse } from '../../server/test-support/start.testing.ts'

/** A node that is attacked through one endpoint, while health is requested through another. */
export interface AttackedNode {
  readonly host: string
  /** Its data folder. */
  readonly data: string
  /** Port of the attacked endpoint, which reaches all databases. */
  readonly port: number
  /** The pid of the node's process. */
  readonly pid: number | undefined
  /** An API token with the role admin. */
  readonly token: string
  /** Creates an API token with another role. */
  createToken(role: 'viewer' | 'operator'): Promise<string>
  /**
   * Sends a request to the attacked endpoint over a new connection, by default with the admin's
   * token. The table counts the responses by status.
   */
  send(
    method: string,
    path: string,
    body?: unknown,
    options?: Pick<RequestOptions, 'headers'>,
  ): Promise<TestResponse>
  /** Counts a response that did not come through {@link send}. */
  count(status: number | string): void
}

/** One row of the table. Each file in `attacks/` exports one as `attack`. */
export interface Attack {
  readonly name: string
  /** Takes more than 10 s with its preparation; `npm run bench` omits it. */
  readonly isLong?: true
  /** More environment variables of the node, `GATEHOUSE_…`. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * Prepares a new node and returns the attack. Health is measured until the attack resolves; the
   * attack is stopped after a minute.
   */
  prepare(node: AttackedNode): Promise<() => Promise<unknown>>
}

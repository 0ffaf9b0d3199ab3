import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, vi } from 'vitest'
import { openStore } from '../../storage/open.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'

/** Number of event-loop turns without a statement after which the work of a request has ended. */
const QUIET = 200

/** A request of a client that may disconnect. */
export interface ClientRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/**
 * Returns a node on SQLite for the tests of a suite, and clients that disconnect. The work of a
 * request is the number of statements that return rows.
 */
export function createDisconnectFixture() {
  let node: TestNode
  let statements = 0

  beforeAll(async () => {
    node = await startForTest()
  })
  beforeEach(() => {
    const all: (...parameters: SQLInputValue[]) => unknown[] = StatementSync.prototype.all
    vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (
      this: StatementSync,
      ...parameters: SQLInputValue[]
    ): never {
      statements++
      return all.apply(this, parameters) as never
    } as never)
  })
  afterAll(() => node.stop())

  function send({ method, path, headers = {}, body = '' }: ClientRequest): Socket {
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      'Connection: close',
      `Authorization: Bearer ${node.token}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
    const client = connect(node.port, '127.0.0.1').resume()
    client.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]))
    return client
  }

  /** Waits until no statements run; returns the number since the last call. */
  async function workDone(): Promise<number> {
    for (let before = -1; before !== statements; ) {
      before = statements
      for (let turn = 0; turn < QUIET; turn++) await nextTurn()
    }
    const done = statements
    statements = 0
    return done
  }

  return {
    get node() {
      return node
    },

    /** Stores documents with the fields `id`, `n` and `odd`. */
    async fill(collection: string, count: number, text?: string): Promise<void> {
      const store = await openStore({ data: node.data }, 'tool')
      await createDocumentRepository(store).insert(
        { database: '_system', collection },
        Array.from({ length: count }, (_, n) => {
          const id = `d${String(n).padStart(6, '0')}`
          return { id, body: JSON.stringify({ id, n, odd: n % 2, text }) }
        }),
      )
      await store.close()
    },

    async createIndex(collection: string, field: string): Promise<void> {
      await node.request('PUT', `/_index/${collection}/by-${field}`, { fields: [field] })
      const isReady = async () =>
        (await node.request('GET', `/_index/${collection}`)).json[0].state === 'ready'
      await vi.waitUntil(isReady, WAIT)
    },

    /** Waits for the response of a request; returns its work. */
    async complete(request: ClientRequest): Promise<number> {
      await workDone()
      await once(send(request), 'close')
      return workDone()
    },

    /** Disconnects after some work of a request; returns its whole work. */
    async leave(request: ClientRequest, after: number): Promise<number> {
      await workDone()
      const client = send(request)
      while (statements < after) await nextTurn()
      client.destroy()
      return workDone()
    },
  }
}

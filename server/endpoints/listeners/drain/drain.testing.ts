import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../../../test-support/server-process.testing.ts'
import { endpointPath, makeToken, sendRequest } from '../../../test-support/start.testing.ts'
import { freePorts } from '../free-ports.testing.ts'
import { KeepAliveClient, openClients } from '../keep-alive-client.testing.ts'

/** A server in its own process, so that neither side blocks the other's event loop. */
interface RealServer extends ServerProcess {
  readonly port: number
  /** An API token of the operator with full access. */
  readonly token: string
  /** Adds an endpoint with this port. */
  add(port: number): Promise<void>
  /** Removes the endpoint with this port. */
  remove(port: number): Promise<void>
}

/** Returns the first half of a request that creates a database. */
export const beginWorking = (token: string) =>
  'POST /_api/database HTTP/1.1\r\nHost: localhost\r\n' +
  `Authorization: Bearer ${token}\r\nContent-Length: 16\r\n\r\n{"name":`

/** Sends the second half, with a name of five letters. */
export const finishWorking = (client: KeepAliveClient, name: string) => client.request(`"${name}"}`)

/** Connects; returns `accepted` or the code of the error. */
export const tryConnect = (port: number) =>
  KeepAliveClient.open({ port }).then(
    (client) => {
      client.leave()
      return 'accepted'
    },
    (error: NodeJS.ErrnoException) => error.code,
  )

/** Returns what tests of drains share. Connections and servers end after each test. */
export function createDrainFixture() {
  let folder: string
  const clients: KeepAliveClient[] = []
  const leaveAll = () => {
    for (const client of clients.splice(0)) client.leave()
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-drain-'))
  })
  afterEach(async () => {
    leaveAll()
    await killProcesses()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(count: number, port: number): Promise<KeepAliveClient[]> {
    const opened = await openClients(count, { port })
    clients.push(...opened)
    return opened
  }
  const openOne = async (port: number) => (await open(1, port))[0] as KeepAliveClient

  return {
    open,
    openOne,
    /** Opens a connection with a request in progress: half of its body is not sent yet. */
    async openWorking(port: number, token: string): Promise<KeepAliveClient> {
      const client = await openOne(port)
      await client.sendPart(beginWorking(token))
      return client
    },
    /** Closes the connections. */
    leaveAll,
    async startServer(...flags: string[]): Promise<RealServer> {
      const [port = 0] = await freePorts(1)
      const endpoint = `tcp://127.0.0.1:${port}`
      const server = await startProcess(['--data', folder, '--endpoint', endpoint, ...flags])
      const token = await makeToken({ data: folder, databaseUrl: undefined })
      const headers = { Authorization: `Bearer ${token}` }
      const expectDone = async (answer: ReturnType<typeof sendRequest>) =>
        expect((await answer).json).toEqual({ result: true, error: false, code: 200 })
      return {
        ...server,
        port,
        token,
        add: (other) =>
          expectDone(
            sendRequest(port, 'POST', '/_api/endpoint', {
              body: { endpoint: `tcp://127.0.0.1:${other}`, databases: [] },
              headers,
            }),
          ),
        remove: (other) =>
          expectDone(
            sendRequest(port, 'DELETE', endpointPath(`tcp://127.0.0.1:${other}`), { headers }),
          ),
      }
    },
  }
}

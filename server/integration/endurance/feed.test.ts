import { get } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import type { DocumentChange } from '../../contract/feed.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { startTcpProxy, type TcpProxy } from '../../storage/test-support/tcp-proxy.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  startProcess,
  storeFlags,
} from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../test-support/start.testing.ts'
import { startReceiver } from '../../webhooks/receiver.testing.ts'
import { type Call, createDocumentWriter, readAll } from './document-writer.testing.ts'
import { KILLS, pick, type Random, randomNumbers, SEED } from './settings.testing.ts'

// Writers change documents on one node, or on two of PostgreSQL, which are killed and lose their
// connections to it. Followers read the feed from random positions that they have seen, as pages,
// long polls and streams. A webhook gets the changes from whichever node is left.

/** Number of kills, and of changes around each. */
const ROUNDS = Math.max(1, Math.floor(KILLS / 4))
const CHANGES_PER_ROUND = Math.min(200, 5 * KILLS)
const [WRITERS, FOLLOWERS] = [4, 3]
const PATH = '/_feed/endurance/changes?include=document'

/** Number of documents of an import, in a job and in a request. */
const IMPORTED = 30

/** Time until another node resumes a job or a webhook, on a busy machine, ms. */
const RESUMED = { timeout: 120_000 }

/** Every fourth round, packets to PostgreSQL are lost; in the others, its connections break. */
const LOST_PACKETS = 4

/** Maximum time of a round on a busy machine, ms. */
const ROUND = 180_000

/** Sends a request to one of the nodes. */
type CallAt = (
  at: number,
  ...parameters: [...Parameters<Call>, headers?: Record<string, string>]
) => Promise<TestResponse>

forEachEngine((engine) => {
  const proxies: TcpProxy[] = []
  async function throughProxy(databaseUrl: string) {
    const url = new URL(databaseUrl)
    const proxy = await startTcpProxy(Number(url.port))
    proxies.push(proxy)
    url.port = String(proxy.port)
    return { databaseUrl: url.href }
  }
  // Before the database is removed.
  afterEach(async () => {
    await killProcesses()
    for (const proxy of proxies.splice(0)) await proxy.close()
  })

  test(
    'followers and a webhook have every change in order after kills, and the documents of the collection',
    async () => {
      const random = randomNumbers(SEED)
      const location = engine.location()
      const ports = await freePorts(engine.name === 'sqlite' ? 1 : 2)
      const url = 'data' in location ? undefined : location.databaseUrl
      const stores: (typeof location)[] = []
      for (const _ of ports) stores.push(url === undefined ? location : await throughProxy(url))
      const startAt = (at: number) => {
        const flags = ['--node', `node-${at}`, '--endpoint', `tcp://127.0.0.1:${ports[at]}`]
        return startProcess([...storeFlags(stores[at] ?? location), ...flags], {
          env: { ...SECRETS, GATEHOUSE_WEBHOOK_ALLOW: '127.0.0.1' },
        })
      }
      const nodes: ServerProcess[] = []
      for (const at of ports.keys()) nodes.push(await startAt(at))
      const token = await makeToken({
        data: 'data' in location ? location.data : '',
        databaseUrl: url,
      })
      const authorization = { Authorization: `Bearer ${token}` }
      const call: CallAt = (at, method, path, body, headers) =>
        sendRequest(ports[at] ?? 0, method, path, {
          ...(body === undefined ? {} : { body }),
          headers: { ...authorization, ...headers },
        })
      const anywhere: Call = (...request) => call(random(ports.length), ...request)
      await expect
        .poll(async () => (await anywhere('PUT', '/_feed/endurance', {})).status)
        .toBe(201)
      const receiver = await startReceiver()
      const hook = { name: 'hook', url: receiver.url, database: '_system' }
      expect(
        (await call(0, 'POST', '/_api/webhook', { ...hook, collections: ['endurance'] })).status,
      ).toBe(201)
      const importTo = (at: number, v: number, prefer = {}) => {
        const lines = Array.from({ length: IMPORTED }, (_, n) => `{"id":"import-${n}","v":${v}}\n`)
        const headers = { 'Content-Type': 'application/x-ndjson', ...prefer }
        const path = '/endurance?on-conflict=replace'
        return call(at, 'POST', path, lines.join(''), headers)
      }

      const writers = Array.from({ length: WRITERS }, (_, at) =>
        createDocumentWriter(`writer${at}`, randomNumbers(SEED + at)),
      )
      const followers = Array.from({ length: FOLLOWERS }, (_, at) =>
        createFollower(call, ports, authorization, randomNumbers(SEED + 100 + at)),
      )
      for (let round = 0; round < ROUNDS; round++) {
        let isDone = false
        let made = 0
        const following = followers.map(async (follower) => {
          while (!isDone) await follower.step()
        })
        // In turn, so that another node takes over the webhook.
        const killed = round % nodes.length
        const job = await importTo(killed, round, { Prefer: 'respond-async' })
        expect([job.status, job.text]).toEqual([202, job.text])
        const killAt = random(CHANGES_PER_ROUND)
        let restarting: Promise<void> | undefined
        const outageAt = random(CHANGES_PER_ROUND)
        const outage = createOutage(proxies[1 - killed], round)
        const write: Call = async (...request) => {
          const at = random(ports.length)
          const response = await call(at, ...request)
          if (at !== killed && response.status === 503) outage.end()
          return response
        }
        const restart = async () => {
          nodes[killed]?.signal('SIGKILL')
          await nodes[killed]?.exit
          nodes[killed] = await startAt(killed)
        }
        await Promise.all([
          importTo(killed, -round).catch(() => {}),
          ...writers.map(async (writer) => {
            while (made < CHANGES_PER_ROUND || outage.lasts) {
              if (await writer.write(write)) made++
              if (made >= killAt) restarting ??= restart()
              if (made >= outageAt) outage.begin()
            }
          }),
        ])
        await restarting
        await expect
          .poll(async () => {
            const { json } = await call(killed, 'GET', String(job.headers.location))
            return json.state
          }, RESUMED)
          .toBe('done')
        isDone = true
        await Promise.all(following)
      }
      const stored = await readAll(anywhere)
      for (const writer of writers) writer.check(stored, true)
      for (const follower of followers) {
        await follower.finish()
        expect(follower.replica()).toEqual(stored)
        expect(follower.seen).toEqual(followers[0]?.seen)
      }
      const positions = followers[0]?.seen.map(({ position }) => position)
      // A message whose outcome was not stored is sent again.
      const delivered = () => [
        ...new Set(
          receiver.received.flatMap(({ json }) =>
            json.data.changes.map(({ position }: DocumentChange) => position),
          ),
        ),
      ]
      await expect.poll(() => delivered().length, RESUMED).toBe(positions?.length)
      expect(delivered()).toEqual(positions)
      const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
      expect(followers[0]?.seen.length).toBeGreaterThanOrEqual(acknowledged)
    },
    ROUNDS * ROUND,
  )
})

/** Creates an outage of the database of a node, which begins once and ends when it is noticed. */
function createOutage(proxy: TcpProxy | undefined, round: number) {
  let hasBegun = false
  let lasts = false
  return {
    get lasts() {
      return lasts
    },
    begin(): void {
      if (hasBegun) return
      hasBegun = true
      lasts = proxy !== undefined && round % LOST_PACKETS === LOST_PACKETS - 1
      if (lasts) proxy?.swallow()
      else proxy?.cut()
    },
    end(): void {
      if (lasts) proxy?.heal()
      lasts = false
    },
  }
}

function createFollower(
  call: CallAt,
  ports: readonly number[],
  headers: Record<string, string>,
  random: Random,
) {
  const seen: DocumentChange[] = []
  const all = ports.map((_, at) => at)

  /** Compares changes after the `from`th with those seen before, and appends new ones. */
  function take(from: number, changes: readonly DocumentChange[]): void {
    for (const [at, change] of changes.entries()) {
      const known = seen[from + at]
      if (known === undefined) seen.push(change)
      else expect(change).toEqual(known)
    }
  }

  const pathAfter = (from: number, limit?: number) => {
    const position = seen[from - 1]?.position
    return `${PATH}${limit ? `&limit=${limit}` : ''}${position ? `&after=${position}` : ''}`
  }

  /** Reads a page; returns the number of its changes, or undefined without a response. */
  async function readPage(from: number, limit: number, prefer = {}): Promise<number | undefined> {
    const path = pathAfter(from, limit)
    const response = await call(pick(random, all), 'GET', path, undefined, prefer).catch(() => {})
    if (response === undefined || response.status === 503) return undefined
    expect([response.status, response.text]).toEqual([200, response.text])
    take(from, response.json)
    return response.json.length
  }

  /** Reads some changes of a stream, and disconnects. */
  function readStream(from: number, count: number): Promise<void> {
    const port = ports[random(ports.length)] ?? 0
    return new Promise((resolve, reject) => {
      const options = {
        ...{ port, path: pathAfter(from), agent: false },
        headers: { ...headers, Accept: 'text/event-stream' },
      }
      const request = get(options, (response) => {
        let text = ''
        let at = from
        response.on('data', (part) => {
          text += part
          const events = text.split('\n\n')
          text = events.pop() ?? ''
          const changes = events.flatMap((event) => {
            const [, data] = /^data: (.+)$/m.exec(event) ?? []
            return data === undefined ? [] : [JSON.parse(data) as DocumentChange]
          })
          try {
            if (response.statusCode === 200) take(at, changes)
          } catch (error) {
            reject(error)
          }
          at += changes.length
          if (at - from >= count) request.destroy()
        })
        response.on('error', () => {})
        response.on('close', resolve)
      })
      request.on('error', () => resolve())
      request.setTimeout(500, () => request.destroy())
    })
  }

  return {
    seen,
    async step(): Promise<void> {
      const from = random(3) === 0 ? random(seen.length + 1) : seen.length
      const kind = random(3)
      if (kind === 0) await readPage(from, 1 + random(20))
      else if (kind === 1) await readPage(from, 1 + random(20), { Prefer: 'wait=1' })
      else await readStream(from, 1 + random(30))
    },
    /** Reads up to the last change. */
    async finish(): Promise<void> {
      while ((await readPage(seen.length, 1000)) !== 0);
    },
    /** Returns the documents that result from the changes, by id. */
    replica(): Map<string, number> {
      const documents = new Map<string, number>()
      for (const { id, change, document } of seen) {
        if (change === 'deleted') documents.delete(id)
        else documents.set(id, Number(document?.v))
      }
      return documents
    },
  }
}

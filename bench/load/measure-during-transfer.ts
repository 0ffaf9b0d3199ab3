import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import type { ExportRequest } from './export-worker.ts'

/** Measurements of an import or an export, and of concurrent requests; times in ms. */
export interface TransferMeasurements {
  readonly reads: readonly number[]
  readonly inserts: readonly number[]
  readonly time: number
  /** Growth of the server's resident memory, bytes. */
  readonly memory: number
}

/** The endpoint, the value of the header `Authorization`, and the server's process id. */
export interface TransferTarget {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly pid: number
}

/** Sends a request, and returns its response. */
type Call = (
  method: string,
  path: string,
  headers?: Readonly<Record<string, string>>,
  body?: Readable | string,
) => Promise<IncomingMessage>

/** Transfers documents, and returns how long that took, ms. */
type Transfer = (call: Call, to: TransferTarget) => Promise<number>

const JSON_BODY = { 'Content-Type': 'application/json' }

/** Period of reads and of inserts, ms; a slow response does not delay the next request. */
const PERIOD = 10

/** Period in which the memory of the server is read, ms. */
const SAMPLE = 50

/** Lines per chunk that the client sends. */
const CHUNK = 500

/**
 * Imports documents into the collection `imported` in one request.
 *
 * @param lineOf returns a document as NDJSON.
 */
export const importDocuments =
  (count: number, lineOf: (at: number) => string): Transfer =>
  async (call) => {
    const begun = performance.now()
    const body = Readable.from(chunksOf(count, lineOf), { objectMode: true, highWaterMark: 4 })
    const response = await call(
      'POST',
      '/imported',
      { 'Content-Type': 'application/x-ndjson' },
      body,
    )
    const result = await text(response)
    if (JSON.parse(result).created !== count) throw new Error(result)
    return performance.now() - begun
  }

/**
 * Exports the collection `imported`, and checks its number of lines unless it is compressed. A thread
 * of its own reads the response, which would delay the other requests in this one.
 */
export const exportDocuments =
  (lines: number, headers: Readonly<Record<string, string>>): Transfer =>
  async (_, { host, port, token }) => {
    const workerData: ExportRequest = {
      host,
      port,
      lines,
      headers: { ...headers, Authorization: token },
    }
    const worker = new Worker(new URL('./export-worker.ts', import.meta.url), { workerData })
    const [time] = (await once(worker, 'message')) as [number]
    return time
  }

/**
 * Runs a transfer, while other requests read and insert in another collection.
 *
 * @throws if a request is rejected.
 */
export async function measureDuringTransfer(
  to: TransferTarget,
  transfer: Transfer,
): Promise<TransferMeasurements> {
  const agent = new Agent({ keepAlive: true })
  const call: Call = async (method, path, headers = {}, body = '') => {
    const { host, port } = to
    const all = { Authorization: to.token, ...headers }
    const sent = request({ host, port, method, path, agent, headers: all })
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    if (typeof body === 'string') sent.end(body)
    else void pipeline(body, sent).catch((error) => sent.destroy(error))
    const [answer] = await answered
    const { statusCode: status = 0 } = answer
    if (status >= 400)
      throw new Error(`${method} ${path} answered ${status}: ${await text(answer)}`)
    return answer
  }

  const pending: Promise<unknown>[] = []
  const timed = (into: number[], ...parameters: Parameters<Call>) => {
    const begun = performance.now()
    const answered = call(...parameters).then(text)
    pending.push(answered.then(() => into.push(performance.now() - begun)))
  }
  const reads: number[] = []
  const inserts: number[] = []
  const other = '{"id":"one"}'
  await call('PUT', '/others/one', { ...JSON_BODY, 'If-None-Match': '*' }, other).catch(() => {})
  for (let warm = 0; warm < 200; warm++) await text(await call('GET', '/others/one'))
  const before = memoryOf(to.pid)
  let peak = before
  const others = setInterval(() => {
    timed(reads, 'GET', '/others/one')
    timed(inserts, 'POST', '/others', JSON_BODY, '{"title":"On the measurement of servers"}')
  }, PERIOD)
  const samples = setInterval(() => {
    peak = Math.max(peak, memoryOf(to.pid))
  }, SAMPLE)
  try {
    const time = await transfer(call, to)
    return { reads, inserts, time, memory: peak - before }
  } finally {
    clearInterval(others)
    clearInterval(samples)
    await Promise.all(pending)
    agent.destroy()
  }
}

function* chunksOf(count: number, lineOf: (at: number) => string): Generator<Buffer> {
  for (let from = 0; from < count; from += CHUNK) {
    let lines = ''
    for (let at = from; at < Math.min(count, from + CHUNK); at++) lines += `${lineOf(at)}\n`
    yield Buffer.from(lines)
  }
}

/** Returns the resident memory of a process on Linux, bytes. */
const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

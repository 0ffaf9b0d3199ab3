import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Measurements of an import, and of other requests beside it; times in ms. */
export interface BesideImport {
  readonly reads: readonly number[]
  readonly inserts: readonly number[]
  readonly time: number
  /** Growth of the server's resident memory, bytes. */
  readonly memory: number
}

/** Period of reads and of inserts, ms; a slow response does not delay the next request. */
const EVERY = 10

/** Period in which the memory of the server is read, ms. */
const SAMPLE = 50

/** Lines per chunk that the client sends. */
const CHUNK = 500

/**
 * Imports documents in one request, while other requests read and insert in another collection.
 *
 * @param to the endpoint, the value of the header `Authorization`, and the server's process id.
 * @param lineOf returns a document as NDJSON.
 * @throws if a document or another request is rejected.
 */
export async function besideImport(
  to: {
    readonly host: string
    readonly port: number
    readonly token: string
    readonly pid: number
  },
  count: number,
  lineOf: (at: number) => string,
): Promise<BesideImport> {
  const agent = new Agent({ keepAlive: true })
  const call = (method: string, path: string, type: string, body: Readable | string) =>
    new Promise<string>((resolve, reject) => {
      const { host, port } = to
      const headers = { Authorization: to.token, 'Content-Type': type }
      const sent = request({ host, port, method, path, agent, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => {
          const { statusCode: status = 0 } = answer
          if (status < 400) resolve(text)
          else reject(new Error(`${method} ${path} answered ${status}: ${text}`))
        })
      })
      sent.on('error', reject)
      if (typeof body === 'string') sent.end(body)
      else pipeline(body, sent).catch(reject)
    })

  const pending: Promise<unknown>[] = []
  const timed = (into: number[], method: string, path: string, body = '') => {
    const begun = performance.now()
    const answered = call(method, path, 'application/json', body)
    pending.push(answered.then(() => into.push(performance.now() - begun)))
  }
  const reads: number[] = []
  const inserts: number[] = []
  await call('POST', '/others', 'application/json', '{"id":"one"}')
  for (let warm = 0; warm < 200; warm++) await call('GET', '/others/one', 'application/json', '')
  const before = memoryOf(to.pid)
  let most = before
  const others = setInterval(() => {
    timed(reads, 'GET', '/others/one')
    timed(inserts, 'POST', '/others', '{"title":"On the measurement of servers"}')
  }, EVERY)
  const samples = setInterval(() => {
    most = Math.max(most, memoryOf(to.pid))
  }, SAMPLE)
  try {
    const begun = performance.now()
    const body = Readable.from(chunksOf(count, lineOf), { objectMode: true, highWaterMark: 4 })
    const text = await call('POST', '/imported', 'application/x-ndjson', body)
    const time = performance.now() - begun
    if (JSON.parse(text).created !== count) throw new Error(text)
    return { reads, inserts, time, memory: most - before }
  } finally {
    clearInterval(others)
    clearInterval(samples)
    await Promise.all(pending)
    agent.destroy()
  }
}

function* chunksOf(count: number, lineOf: (at: number) => string): Generator<Buffer> {
  for (let from = 0; from < count; from += CHUNK) {
    let text = ''
    for (let at = from; at < Math.min(count, from + CHUNK); at++) text += `${lineOf(at)}\n`
    yield Buffer.from(text)
  }
}

/** Returns the resident memory of a process on Linux, bytes. */
const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

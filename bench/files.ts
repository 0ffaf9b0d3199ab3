import { Session } from 'node:inspector/promises'
import { parseArgs } from 'node:util'
import { startForTest } from '../server/test-support/start.testing.ts'
import { addFigure } from './figures.ts'
import { print } from './report.ts'

// Counts the files of the server whose functions run for one request, by V8's precise coverage: how
// many files one reads to understand it. The node uses SQLite; the request is the second of its kind
// on an open connection.

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
const PRODUCT = /\/server\/(?!.*\.testing\.ts$).*\.ts$/

/** Time for work that follows a response, such as its entry in the traffic statistics, ms. */
const SETTLE = 50

const requests = [
  { what: 'GET of a document', method: 'GET', path: '/articles/1', target: 38 },
  { what: 'POST of a document', method: 'POST', path: '/articles', target: 55 },
  { what: 'POST of an endpoint', method: 'POST', path: '/_api/endpoint', target: 55 },
] as const

const node = await startForTest()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Returns the files whose functions have run since the last call. */
async function takeFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => PRODUCT.test(url))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => url.slice(url.indexOf('/server/') + 1))
    .sort()
}

const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLE))

let addressNumber = 1
const bodyOf = (path: string) =>
  path === '/_api/endpoint'
    ? { endpoint: `tcp://127.0.0.${++addressNumber}:${node.port}`, databases: [] }
    : { title: 'A document' }

/** Sends a request on a connection that stays open. */
async function send(method: string, path: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${node.port}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${node.token}`,
      'Content-Type': 'application/json',
      'Accept-Encoding': 'identity',
    },
    ...(method === 'POST' && { body: JSON.stringify(bodyOf(path)) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
}

try {
  await node.request('POST', '/_api/database', { name: 'main' })
  await node.request('POST', '/articles', { id: '1', title: 'First' })
  for (const { what, method, path, target } of requests) {
    await send(method, path)
    await settle()
    await takeFiles()
    await send(method, path)
    const files = await takeFiles()
    print(`${what}: ${files.length} files (target: at most ${target})`)
    if (options.list) print(files.map((file) => `  ${file}`).join('\n'))
    addFigure({
      what: `files that run, ${what}`,
      value: String(files.length),
      target: `at most ${target}`,
      isMet: files.length <= target,
    })
  }
} finally {
  await node.stop()
}

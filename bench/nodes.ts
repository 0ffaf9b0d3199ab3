import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { freePorts } from '../server/endpoints/listeners/free-ports.testing.ts'
import { type NodeProcess, startNodes } from '../server/nodes/integration/node-processes.testing.ts'
import { killProcesses } from '../server/test-support/server-process.testing.ts'
import { addFigure } from './figures.ts'
import { openLoad } from './load/load.ts'
import { get, waitUntilIdle } from './load/rounds.ts'
import { quantile, shuffled } from './load/statistics.ts'
import { isInstalled } from './peers/constant-servers.ts'
import { print } from './report.ts'
import { makeFolder } from './servers/folder.ts'
import { startPostgres } from './servers/postgres.ts'
import { startProcess } from './servers/process.ts'
import { withinBudget } from './time-budget.ts'

// Measures how soon a change on one node is served by another. docs/benchmarks.md explains the
// measurements.

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '200' } },
})
/** Number of counted changes of each kind, after a warm-up. */
const ROUNDS = Number(options.rounds)
const WARM_UP = 20
const TWO_NODES = 'two nodes behind HAProxy : one'
/** Targets: the median time until a mapping is served, ms, and the rate of two nodes against one. */
const [MAX_SERVED, MIN_RATIO] = [15, 0.9]
/**
 * Pause between requests that test whether a change is served, ms. Without it, they would take CPU
 * time from the nodes and delay the change.
 */
const INTERVAL = 1
/** Maximum time until a change arrives, ms. */
const MAX_DURATION = 10_000
/** Reads: documents, connections, counted rounds, ms per setup in a round, ms of warm-up. */
const READS = { documents: 1_000, connections: 64, rounds: 20, slice: 500, warmUp: 2_000 }

const milliseconds = (number: number) => number.toFixed(1)

/** Returns a function that sends requests over one keep-alive connection, with little overhead. */
function createReader(node: NodeProcess) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (path: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      request({ agent, host: '127.0.0.1', port: node.port, path }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      })
        .on('error', reject)
        .end()
    })
}

/**
 * Measures from sending a change to one node until another node serves it, and until the response.
 * Each change begins when the nodes have completed the work of the last one.
 */
async function measure(
  nodes: readonly NodeProcess[],
  change: (round: number) => Promise<{ status: number; text: string }>,
  isServed: (round: number) => Promise<boolean>,
): Promise<{ readonly served: number[]; readonly responded: number[] }> {
  const served: number[] = []
  const responded: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const node of nodes) await waitUntilIdle(node)
    const begun = performance.now()
    const response = change(round).then(({ status, text }) => {
      if (status !== 200 && status !== 201) throw new Error(`${status}: ${text}`)
      return performance.now() - begun
    })
    while (!(await isServed(round))) {
      if (performance.now() - begun > MAX_DURATION) throw new Error('the change does not arrive')
      await pause(INTERVAL)
    }
    const after = performance.now() - begun
    const responseTime = await response
    if (round < WARM_UP) continue
    served.push(after)
    responded.push(responseTime)
  }
  return { served, responded }
}

const row = (what: string, times: readonly number[]) =>
  `| ${what} | ${[0.5, 0.95, 0.99, 1].map((at) => milliseconds(quantile(times, at))).join(' | ')} |`

/** Starts HAProxy with a port for each list of nodes and round-robin per connection. */
async function startBalancer(groups: readonly (readonly NodeProcess[])[]) {
  const ports = await freePorts(groups.length)
  const lines = groups.flatMap((nodes, at) => [
    `listen group${at}`,
    `  bind 127.0.0.1:${ports[at]}`,
    ...nodes.map(({ name, port }) => `  server ${name} 127.0.0.1:${port}`),
  ])
  const file = join(makeFolder('balancer'), 'haproxy.cfg')
  const times = ['connect 5s', 'client 60s', 'server 60s'].map((each) => `  timeout ${each}`)
  const settings = ['defaults', '  mode tcp', '  balance roundrobin', ...times, ...lines, '']
  writeFileSync(file, settings.join('\n'))
  const { stop } = await startProcess('haproxy', ['-db', '-f', file], process.env, () =>
    fetch(`http://127.0.0.1:${ports[0]}/_api/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return { ports, stop }
}

/**
 * Measures reads by id per second through the balancer, with the first node behind it and with
 * both.
 */
async function measureReads(nodes: readonly [NodeProcess, NodeProcess]) {
  const [a] = nodes
  const ids = Array.from({ length: READS.documents }, (_, at) => `article-${at + READS.documents}`)
  const articles = ids.map((id) => ({ id, title: 'One', text: 'x'.repeat(80) }))
  const { status, text } = await a.request('POST', '/articles', articles)
  if (status !== 201) throw new Error(`${status}: ${text}`)
  const balancer = await startBalancer([[a], nodes])
  const token = `Authorization: Bearer ${a.token}\r\n`
  const loads = await Promise.all(
    balancer.ports.map((port) => {
      const requests = ids.map((id) => get('127.0.0.1', port, `/articles/${id}`, token))
      return openLoad({ host: '127.0.0.1', port }, requests, READS.connections)
    }),
  )
  const rates: number[][] = loads.map(() => [])
  try {
    for (const load of loads) await load.run(READS.warmUp)
    for (const _ of withinBudget(READS.rounds)) {
      for (const at of shuffled(loads.length)) {
        const run = await loads[at]?.run(READS.slice)
        if (run !== undefined) rates[at]?.push((run.answers / run.time) * 1000)
      }
    }
  } finally {
    for (const load of loads) load.close()
    await balancer.stop()
  }
  const [one = [], two = []] = rates
  return { one, two, ratio: two.map((rate, at) => rate / (one[at] ?? Number.NaN)) }
}

const spread = (numbers: readonly number[], digits = 0) =>
  [0.5, 0.25, 0.75].map((at) => quantile(numbers, at).toFixed(digits)).join(' | ')

const { url, stop } = await startPostgres(['fsync=on'])
try {
  const nodes = await startNodes(url, ['a', 'b'], [], NODE_FLAGS)
  const [a, b] = nodes as [NodeProcess, NodeProcess]
  const readFromB = createReader(b)
  const names = ['one', 'two'] as const
  for (const name of names) await a.request('POST', '/_api/database', { name })
  const nameOf = (round: number) => names[round % 2] ?? names[0]

  const mapping = await measure(
    nodes,
    (round) =>
      a.request('POST', '/_api/endpoint', {
        endpoint: b.address,
        databases: [nameOf(round), '_system'],
      }),
    async (round) => (await readFromB('/')).text.includes(`"${nameOf(round)}"`),
  )
  await a.request('POST', '/_api/endpoint', { endpoint: b.address, databases: [] })
  const database = await measure(
    nodes,
    (round) => a.request('POST', '/_api/database', { name: `made-${round}` }),
    async (round) => (await readFromB(`/_db/made-${round}/`)).status === 200,
  )

  const cpu = /^model name\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  print(`Node.js ${process.versions.node}, ${availableParallelism()} cores (${cpu ?? 'unknown'}),`)
  print(`load ${loadavg()[0]?.toFixed(1)}; two nodes and PostgreSQL with fsync on this machine`)
  print()
  print(`| ms from sending the change to A, of ${ROUNDS} | median | 95 % | 99 % | longest |`)
  print('|---|---:|---:|---:|---:|')
  print(row('a mapping: served by the socket of B', mapping.served))
  const served = quantile(mapping.served)
  addFigure({
    what: 'a mapping is served by the other node after, ms',
    value: milliseconds(served),
    target: `at most ${MAX_SERVED}`,
    isMet: served <= MAX_SERVED,
  })
  print(row('a mapping: response of A', mapping.responded))
  print(row('a database: served by the socket of B', database.served))
  print(row('a database: response of A', database.responded))
  print()
  if (!isInstalled('haproxy')) {
    print('HAProxy is not installed here: reads with one node and two are omitted.')
    addFigure({ what: TWO_NODES, value: 'HAProxy is not installed' })
  } else {
    const { one, two, ratio } = await measureReads([a, b])
    print('| reads by id per second, behind HAProxy | median | 25 % | 75 % |')
    print('|---|---:|---:|---:|')
    print(`| one node | ${spread(one)} |`)
    print(`| two nodes | ${spread(two)} |`)
    print(`| two against one, of a round | ${spread(ratio, 2)} |`)
    addFigure({
      what: TWO_NODES,
      value: quantile(ratio).toFixed(2),
      target: `at least ${MIN_RATIO}`,
      isMet: quantile(ratio) >= MIN_RATIO,
    })
  }
} finally {
  await killProcesses()
  await stop()
}

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createBrowser } from '../server/oauth2/sign-in/browser.testing.ts'
import { callbackPath } from '../server/oauth2/sign-in/sign-in.ts'
import { makeToken } from '../server/test-support/start.testing.ts'
import { addFigure } from './figures.ts'
import { type Load, openLoad } from './load/load.ts'
import { formatSlices, get } from './load/rounds.ts'
import { quantile, shuffled } from './load/statistics.ts'
import { limitDuration, print, printEnd, printMachine, spread, verdict } from './report.ts'
import { portsOf } from './servers/address.ts'
import { startGatehouse, storeEndpoints } from './servers/gatehouse.ts'
import { processorTime } from './servers/process.ts'
import { withinBudget } from './time-budget.ts'

// Measures sign-ins per second, and the cost of authentication per request. docs/benchmarks.md
// explains the measurements.

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '50' } },
})
const [PORT = 0] = portsOf(1)
/** Number of concurrent sign-ins. */
const CONCURRENCY = 8
/** Duration of the warm-up and of the counted sign-ins at each provider, ms. */
const SIGN_INS = { warmUp: 1_000, counted: 5_000 }
/** Connections of each load. */
const CONNECTIONS = 64
/** Number of node starts, rounds per start, and ms of each load in a round. */
const STARTS = 3
const ROUNDS = Number(options.rounds)
const SLICE = 200
/** Warm-up of each load before rounds count, ms. */
const WARM_UP = 1_000
/** Maximum duration of the run, ms. */
const MAX_DURATION = 5 * 60_000

const originOf = (host: string) => `http://${host}:${PORT}`

/**
 * Signs in with a new browser, from the POST to the 303 with the session cookie. Returns the
 * cookie.
 */
async function signIn(origin: string, provider: string, key?: string): Promise<string> {
  const browser = createBrowser()
  const isRoot = ({ href }: URL) => href === `${origin}/`
  let page = await browser.post(origin + callbackPath(provider), {}, isRoot)
  if (key !== undefined) {
    const action = /<form method="post" action="([^"]+)">/.exec(page.text)?.[1] ?? '/'
    page = await browser.post(new URL(action, origin), { key }, isRoot)
  }
  const cookie = page.headers['set-cookie']?.find((each) => each.startsWith('gatehouse_'))
  if (page.status === 303 && cookie !== undefined) return cookie.split(';')[0] ?? ''
  throw new Error(`the sign-in ended at ${page.url} with ${page.status}:\n${page.text}`)
}

interface SignIns {
  readonly perSecond: number
  /** The time of each sign-in, ms. */
  readonly times: readonly number[]
}

/** Signs in new browsers for `duration` ms, {@link CONCURRENCY} at a time. */
async function signInFor(
  duration: number,
  origin: string,
  provider: string,
  key?: string,
): Promise<SignIns> {
  const begun = performance.now()
  const times: number[] = []
  const person = async () => {
    for (let start = begun; start < begun + duration; start = performance.now()) {
      await signIn(origin, provider, key)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, person))
  return { perSecond: (times.length / (performance.now() - begun)) * 1000, times }
}

/** Starts a third-party provider in a separate process. */
async function startProvider(
  redirectUri: string,
): Promise<{ readonly issuer: string; readonly process: ChildProcess }> {
  const child = fork(join(import.meta.dirname, 'sign-in/provider-process.ts'), { silent: true })
  child.send(redirectUri)
  const [issuer] = await once(child, 'message')
  return { issuer, process: child }
}

async function measureSignIns(): Promise<void> {
  const folder = await storeEndpoints(1)
  const origin = originOf(folder.host)
  const provider = await startProvider(origin + callbackPath('oidc'))
  const node = await startGatehouse(1, folder, [], {
    GATEHOUSE_OIDC_ISSUER: provider.issuer,
    GATEHOUSE_OIDC_CLIENT_ID: 'gatehouse',
    GATEHOUSE_OIDC_CLIENT_SECRET: 'only for measuring',
  })
  print(
    `Sign-ins: from the POST to the 303 with the session's cookie, ${CONCURRENCY} at once, ` +
      `${SIGN_INS.counted / 1000} s each`,
  )
  print(`  ${''.padEnd(44)} per second   ms, median (quartiles)   ms of the server's CPU time`)
  const providers = [
    ['with the operator key', 'local', readKey(folder.data)],
    ['through oidc-provider on the same machine', 'oidc', undefined],
  ] as const
  for (const [what, name, key] of providers) {
    await signInFor(SIGN_INS.warmUp, origin, name, key)
    const before = processorTime(node)
    const { perSecond, times } = await signInFor(SIGN_INS.counted, origin, name, key)
    const cost = (processorTime(node) - before) / times.length / 1000
    const shown = spread(times, (time) => time.toFixed(0)).padEnd(24)
    print(`  ${what.padEnd(44)} ${perSecond.toFixed(0).padStart(10)}   ${shown} ${cost.toFixed(1)}`)
  }
  print()
  await node.stop()
  provider.process.disconnect()
}

const readKey = (data: string) => readFileSync(join(data, 'operator.key'), 'utf8').trim()

/** The compared kinds of authentication. */
const METHODS = ['without', 'session', 'token'] as const

type Method = (typeof METHODS)[number]

/** The results of one load in one round. */
interface Slice {
  /** Responses per second. */
  readonly rate: number
  /** CPU time of the server per response, µs. */
  readonly cost: number
}

/**
 * Starts a node that authenticates only requests with credentials, and runs all three loads in each
 * round.
 *
 * @param share of the rest of the time budget.
 */
async function runRounds(share: number): Promise<Record<Method, Slice>[]> {
  const folder = await storeEndpoints(1)
  const hook = join(import.meta.dirname, 'sign-in/optional-authentication.ts')
  const node = await startGatehouse(1, folder, ['--import', hook])
  const cookie = await signIn(originOf(folder.host), 'local', readKey(folder.data))
  const token = await makeToken({ data: folder.data, databaseUrl: undefined })
  const headers: Record<Method, string> = {
    without: '',
    session: `Cookie: ${cookie}\r\n`,
    token: `Authorization: Bearer ${token}\r\n`,
  }
  const loads = new Map<Method, Load>()
  for (const method of METHODS) {
    const request = get(node.host, PORT, '/_api/endpoint', headers[method])
    loads.set(method, await openLoad({ host: node.host, port: PORT }, request, CONNECTIONS))
  }
  const slice = async (method: Method, duration: number): Promise<Slice> => {
    const before = processorTime(node)
    const { answers, time } = await (loads.get(method) as Load).run(duration)
    return { rate: (answers / time) * 1000, cost: (processorTime(node) - before) / answers }
  }
  for (const method of METHODS) await slice(method, WARM_UP)
  const rounds: Record<Method, Slice>[] = []
  for (const _ of withinBudget(ROUNDS, share)) {
    const slices: Partial<Record<Method, Slice>> = {}
    for (const at of shuffled(METHODS.length)) {
      const method = METHODS[at] as Method
      slices[method] = await slice(method, SLICE)
      await pause(20)
    }
    rounds.push(slices as Record<Method, Slice>)
  }
  for (const load of loads.values()) load.close()
  await node.stop()
  return rounds
}

async function measureCost(): Promise<void> {
  const rounds: Record<Method, Slice>[] = []
  for (let left = STARTS; left > 0; left--) rounds.push(...(await runRounds(1 / left)))
  print(
    `GET /_api/endpoint, ${CONNECTIONS} connections; median (quartiles) of ${rounds.length} rounds`,
  )
  print(`  ${''.padEnd(26)} ${'per second'.padEnd(26)} µs of the server's CPU time`)
  const labels: Record<Method, string> = {
    without: 'without authentication',
    session: 'by session',
    token: 'by token',
  }
  for (const method of METHODS) {
    const each = rounds.map((round) => round[method])
    print(`  ${labels[method].padEnd(26)} ${formatSlices(each)}`)
  }
  // The system counts CPU time in steps of 10 ms, which is coarse for one slice.
  const totalCost = (method: Method) =>
    rounds.reduce((total, round) => total + round[method].cost, 0)
  print('Against the same route without authentication, in the same round:')
  for (const method of ['session', 'token'] as const) {
    const ratios = rounds.map((round) => round[method].rate / round.without.rate)
    const byCost = totalCost('without') / totalCost(method)
    const met = quantile(ratios) >= 0.8
    const shown = spread(ratios, (ratio) => ratio.toFixed(2))
    const what = `${labels[method]} : without authentication`
    addFigure({ what, value: shown, target: 'at least 0.8', isMet: met })
    print(
      `  ${labels[method].padEnd(26)} ${shown.padEnd(26)} wanted: at least 0.8 – ` +
        `${verdict(met)} (by CPU time ${byCost.toFixed(2)})`,
    )
  }
  print()
}

limitDuration(MAX_DURATION)

printMachine()
print()
await measureSignIns()
await measureCost()
printEnd()

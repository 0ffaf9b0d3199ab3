import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { createAuthority, issueCertificate } from '../server/certificates/x509.ts'
import { addFigure } from './figures.ts'
import { quantile } from './load/statistics.ts'
import { limitDuration, print, printEnd, printMachine, spread, verdict } from './report.ts'
import { FIRST_PORT, nextHost } from './servers/address.ts'
import { makeFolder } from './servers/folder.ts'
import { startGatehouse, storeEndpoints } from './servers/gatehouse.ts'
import { startProcess } from './servers/process.ts'

// Measures TLS: handshakes a second, full and resumed, of Gatehouse and Caddy in alternating rounds
// with the same certificate, and the memory of idle connections. docs/benchmarks.md explains the
// measurements.
//
//   npm run bench:tls

const ROUNDS = 10
const ROUND_TIME = 2_000
/** Number of connections that are opened at once. */
const CONCURRENCY = 16
const IDLE_CONNECTIONS = 2_000
/** Wanted: handshakes a second of Gatehouse divided by those of Caddy. */
const WANTED = 0.8

interface Secured {
  readonly name: 'Gatehouse' | 'Caddy'
  readonly host: string
  readonly port: number
  readonly pid: number
}

limitDuration(300_000)
const version = caddyVersion()
if (version === undefined) {
  print('Caddy is not installed (apt-get install caddy). Nothing was measured.')
  process.exit(1)
}
printMachine(`Caddy ${version}, `)
const folder = makeFolder('tls')
const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
const authority = await createAuthority('bench', Date.now())
const { certificate, key } = await issueCertificate(authority, ['bench.example'], Date.now())
writeFileSync(files.cert, certificate)
writeFileSync(files.key, key)

const gatehouse = await startSecureGatehouse()
// First: the memory of earlier connections would be used again.
const kilobytes = await measureIdle(gatehouse)
print(`memory of an idle TLS connection   ${kilobytes.toFixed(1)} KiB`)
addFigure({ what: 'memory of an idle TLS connection, KiB', value: kilobytes.toFixed(1) })
const subjects = [gatehouse, await startSecureCaddy()] as const
const rates = new Map<string, number[]>()
const costs = new Map<string, number[]>()
const add = (to: Map<string, number[]>, name: string, value: number) =>
  to.set(name, [...(to.get(name) ?? []), value])
for (const kind of ['full', 'resumed'] as const) {
  // The first round warms up and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const { rate, cpu } = await measureRound(subject, kind)
      if (round === 0) continue
      add(rates, `${subject.name} ${kind}`, rate)
      add(costs, `${subject.name} ${kind}`, cpu)
    }
  }
}
print()
print(`${'handshakes'.padEnd(12)} ${'server'.padEnd(10)} ${'per second'.padEnd(24)} CPU ms each`)
for (const [name, values] of rates) {
  const [server = '', kind = ''] = name.split(' ')
  const cpu = spread(costs.get(name) ?? [], (value) => value.toFixed(2))
  print(
    `${kind.padEnd(12)} ${server.padEnd(10)} ${spread(values, (v) => v.toFixed(0)).padEnd(24)} ${cpu}`,
  )
}
for (const kind of ['full', 'resumed']) {
  const of = (name: string) => quantile(rates.get(`${name} ${kind}`) ?? [])
  const ratio = of('Gatehouse') / of('Caddy')
  const isMet = ratio >= WANTED
  print(`${kind} handshakes, Gatehouse : Caddy   ${ratio.toFixed(2)}, ${verdict(isMet)}`)
  addFigure({
    what: `${kind} TLS handshakes, Gatehouse : Caddy`,
    value: ratio.toFixed(2),
    target: `at least ${WANTED}`,
    isMet,
  })
}
printEnd()
process.exit()

/** Opens connections one after the other for the time of a round. */
async function measureRound({ host, port, pid }: Secured, kind: 'full' | 'resumed') {
  const session = kind === 'resumed' ? await readSession(host, port) : undefined
  const before = cpuTime(pid)
  const begun = performance.now()
  let handshakes = 0
  const client = async () => {
    while (performance.now() - begun < ROUND_TIME) {
      const socket = await open(host, port, session)
      if (socket.isSessionReused() !== (kind === 'resumed')) {
        throw new Error(`a ${kind} handshake was not ${kind}`)
      }
      socket.destroy()
      handshakes++
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, client))
  const seconds = (performance.now() - begun) / 1_000
  return { rate: handshakes / seconds, cpu: (cpuTime(pid) - before) / handshakes }
}

async function open(host: string, port: number, session?: Buffer): Promise<TLSSocket> {
  const socket = connect({
    host,
    port,
    servername: 'bench.example',
    rejectUnauthorized: false,
    ...(session && { session }),
  })
  await once(socket, 'secureConnect')
  socket.on('error', () => {})
  return socket
}

/** Returns the ticket of a session, which a server sends after the handshake. */
async function readSession(host: string, port: number): Promise<Buffer> {
  const socket = await open(host, port)
  socket.write('GET /_api/health HTTP/1.1\r\nHost: bench.example\r\n\r\n')
  const [session] = await once(socket, 'session')
  socket.destroy()
  return session
}

/** Returns the memory of the server for each idle connection, KiB. */
async function measureIdle({ host, port, pid }: Secured): Promise<number> {
  await pause(2_000)
  const before = residentMemory(pid)
  const sockets: TLSSocket[] = []
  while (sockets.length < IDLE_CONNECTIONS) {
    const opened = Array.from({ length: CONCURRENCY }, () => open(host, port))
    sockets.push(...(await Promise.all(opened)))
  }
  await pause(1_000)
  const used = residentMemory(pid) - before
  for (const socket of sockets) socket.destroy()
  return used / sockets.length
}

/** CPU time of a process and its threads, ms; the clock of `/proc` has steps of 10 ms. */
function cpuTime(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const values = fields.split(' ')
  return (Number(values[11]) + Number(values[12])) * 10
}

/** Resident memory of a process, KiB. */
function residentMemory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

async function startSecureGatehouse(): Promise<Secured> {
  const store = await storeEndpoints(1)
  const settings = { GATEHOUSE_TLS_CERT: files.cert, GATEHOUSE_TLS_KEY: files.key }
  const { host, process, administer } = await startGatehouse(1, store, [], settings)
  const port = FIRST_PORT + 1
  const endpoint = `ssl://${host}:${port}`
  await administer('POST', '/_api/endpoint', { endpoint, databases: [] })
  return { name: 'Gatehouse', host, port, pid: process.pid ?? 0 }
}

/** Starts a Caddy without what Gatehouse does not have: HTTP/2, OCSP, storage and administration. */
async function startSecureCaddy(): Promise<Secured> {
  const host = nextHost()
  const port = FIRST_PORT
  const home = makeFolder(`caddy-${host}`)
  const config = {
    admin: { disabled: true, config: { persist: false } },
    logging: { logs: { default: { level: 'ERROR' } } },
    apps: {
      tls: {
        certificates: { load_files: [{ certificate: files.cert, key: files.key }] },
        disable_ocsp_stapling: true,
      },
      http: {
        servers: {
          secure: {
            listen: [`${host}:${port}`],
            protocols: ['h1'],
            automatic_https: { disable: true },
            tls_connection_policies: [{}],
            routes: [{ handle: [{ handler: 'static_response', status_code: 200, body: 'ok' }] }],
          },
        },
      },
    },
  }
  const file = join(home, 'caddy.json')
  writeFileSync(file, JSON.stringify(config))
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  const accepts = () =>
    open(host, port).then(
      (socket) => {
        socket.destroy()
        return true
      },
      () => false,
    )
  const started = await startProcess('caddy', ['run', '--config', file], env, accepts)
  return { name: 'Caddy', host, port, pid: started.process.pid ?? 0 }
}

/** Returns the version of the installed `caddy`, or `undefined`. */
function caddyVersion(): string | undefined {
  try {
    return execFileSync('caddy', ['version'], { encoding: 'utf8' }).split(' ')[0]?.trim()
  } catch {
    return undefined
  }
}

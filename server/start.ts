import { randomBytes } from 'node:crypto'
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import type { Logger } from 'pino'
import {
  fingerprint,
  type OperatorKey,
  openOperatorKey,
  openSecretKey,
} from './access/secrets/secret-files.ts'
import { requireSecretKey } from './access/secrets/stored-secrets.ts'
import { endReplacedSessions } from './access/sessions.ts'
import { createApp } from './app.ts'
import { createRecorder, START } from './audit/record.ts'
import type { Config } from './cli/config.ts'
import { DEFAULT_ENDPOINT } from './cli/settings.ts'
import type { Address } from './contract/endpoints/address.ts'
import { clearStaleSocket } from './endpoints/listeners/unix-socket.ts'
import type { EndpointsModule } from './endpoints/module.ts'
import { openHealthSocket } from './health/health-socket.ts'
import { createReadiness, healthOf, type NodeReadiness } from './health/readiness.ts'
import { nodeHandler } from './http/node-handler.ts'
import { createModules } from './modules.ts'
import type { AccessLogOutput } from './requests/module.ts'
import { createUntilAvailable } from './storage/availability/until-available.ts'
import { locationOf, openStore } from './storage/open.ts'
import type { Store } from './storage/store.ts'
import { createVault } from './storage/vault.ts'

/** Interval at which a node looks for jobs of crashed nodes, ms. */
const TAKE_OVER_INTERVAL = 2_000

/** The destinations of the logs of a node. */
export interface Outputs {
  readonly log: Pick<AccessLogOutput, 'dropped'>
  /** The access log, if one is written. */
  readonly accessLog?: AccessLogOutput | undefined
}

/** A running node. */
export interface Node {
  /** The addresses that listen, canonical and sorted. */
  readonly addresses: readonly string[]
  /** The addresses that reach `_system`, and with it the console. */
  readonly adminAddresses: readonly Address[]
  /** The key for signing in with the local provider. */
  readonly operatorKey: OperatorKey
  /**
   * Stops in order: reports not ready, waits the ready delay, stops accepting, drains, closes the
   * store. A second call closes the connections that still drain.
   */
  stop(): Promise<void>
}

/**
 * Starts a node. If a step fails, closes in reverse order what was opened.
 *
 * @param config an endpoint with port 0 listens on a free port, for tests.
 * @param consoleFolder the folder of the built console.
 * @param stopping aborts a start, which may wait for PostgreSQL indefinitely.
 * @param outputs the destinations of `log` and of the access log.
 * @throws Failure if the store cannot be opened, the certificate cannot be used, or no endpoint can
 * be opened at the first start; the reason of `stopping` if it was aborted.
 */
export async function start(
  config: Config,
  log: Logger,
  consoleFolder: string,
  stopping: AbortSignal = new AbortController().signal,
  outputs: Outputs = { log: { dropped: 0 } },
): Promise<Node> {
  const stack = new AsyncDisposableStack()
  try {
    const node = await open(config, log, consoleFolder, stack, stopping, outputs)
    stopping.throwIfAborted()
    return node
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

/** Opens the parts of a node in order. What was opened last closes first. */
async function open(
  config: Config,
  log: Logger,
  consoleFolder: string,
  stack: AsyncDisposableStack,
  stopping: AbortSignal,
  outputs: Outputs,
): Promise<Node> {
  const since = performance.now()
  const untilAvailable = createUntilAvailable({
    signal: stopping,
    onWait({ message, cause }) {
      const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
      const seconds = Math.round((performance.now() - since) / 1000)
      log.warn({ reason, seconds }, 'waiting for the database to become available')
    },
  })

  // The default of Node.js, 250 ms, aborts connections to distant hosts. This is the maximum of
  // RFC 8305 §8. It applies to hosts with several addresses: identity providers and PostgreSQL.
  setDefaultAutoSelectFamilyAttemptTimeout(2_000)

  const { data } = config
  const readiness = createReadiness(log)
  const store = await openStore(locationOf(config), 'node', readiness.setOutage, untilAvailable)
  stack.defer(() => store.close())
  readiness.connections = store.connections
  store.onReadOnly(readiness.setReadOnly)
  const read = () => healthOf(readiness)
  stack.defer(await openHealthSocket({ data, read, clearStaleSocket, log }))

  await untilAvailable(() => requireSecretKey(store, data, config.secretKey))
  const operatorKey = openOperatorKey(data, config.operatorKey)
  const secretKey = openSecretKey(data, config.secretKey)
  const vault = createVault(secretKey)
  const modules = await createModules(
    {
      config,
      store,
      vault,
      secretKey,
      readiness,
      untilAvailable,
      consoleFolder,
      log,
      droppedLogLines: () => outputs.log.dropped,
      accessLog: outputs.accessLog,
      operatorKey: operatorKey.read,
      instance: await untilAvailable(() => instanceId(store)),
    },
    stack,
  )
  // The key may have been replaced in the environment.
  const keep = fingerprint(operatorKey.read())
  await untilAvailable(() => endReplacedSessions(store, createRecorder(), keep, START))
  const { certificates, changes, documents, endpoints, engine, feed } = modules
  const { health, indexes, jobs, nodes, oauth2, overview, policy, webhooks } = modules
  const handler = nodeHandler(createApp(modules).fetch, engine.ownerOf)
  engine.onRequest(certificates.answerFirst(handler))

  // The node leaves the others before it closes what it reports to them.
  stack.use(nodes)
  await untilAvailable(nodes.start)
  changes.start()
  await untilAvailable(certificates.start)
  await untilAvailable(oauth2.sync)
  await untilAvailable(policy.expire)
  await untilAvailable(() =>
    endpoints.open({
      addresses: config.endpoints,
      defaultAddress: DEFAULT_ENDPOINT,
      actor: START,
    }),
  )
  await untilAvailable(health.start)
  oauth2.announce()
  warnAboutProxy(config, certificates.has('any'), log)
  warnAboutAdmins(config, log)

  const background = stack.use(new DisposableStack())
  const wakes = [jobs.wake, indexes.wake, feed.wake, webhooks.wake]
  for (const wake of wakes) background.adopt(setInterval(wake, TAKE_OVER_INTERVAL), clearInterval)
  stack.defer(policy.watch())
  stack.defer(endpoints.sampleTraffic())
  stack.defer(overview.start())
  readiness.reason = null
  documents.purge()
  for (const wake of wakes) wake()
  background.use(certificates.startOrders())

  return {
    operatorKey,
    get addresses() {
      return endpoints.addresses()
    },
    get adminAddresses() {
      return endpoints.adminAddresses()
    },
    stop: createStop({ config, readiness, endpoints, background, stack }),
  }
}

interface StopDeps {
  readonly config: Pick<Config, 'readyDelay' | 'drain'>
  readonly readiness: NodeReadiness
  readonly endpoints: Pick<EndpointsModule, 'stop'>
  /** The timers that take over work of other nodes. */
  readonly background: Disposable
  /** The parts of the node. */
  readonly stack: AsyncDisposable
}

/** Returns {@link Node.stop}. */
function createStop({ config, readiness, endpoints, background, stack }: StopDeps): Node['stop'] {
  let stopped: Promise<void> | undefined
  let endDelay = () => {}
  async function stop(): Promise<void> {
    readiness.reason = 'The node is stopping.'
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, config.readyDelay)
      endDelay = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    // A draining node takes over no jobs. It keeps syncing changes until it closes.
    background[Symbol.dispose]()
    await endpoints.stop(config.drain)
    await stack[Symbol.asyncDispose]()
  }
  return () => {
    if (stopped !== undefined) {
      endDelay()
      void endpoints.stop(0)
    }
    stopped ??= stop()
    return stopped
  }
}

/** Logs a warning if HTTPS can only end at a proxy, and no proxy is trusted. */
function warnAboutProxy(
  { publicOrigin, trustedProxies }: Config,
  hasCertificate: boolean,
  log: Logger,
): void {
  if (publicOrigin?.startsWith('https:') !== true) return
  if (trustedProxies.length > 0 || hasCertificate) return
  log.warn(
    'the public URL is https, but this node can receive only plain HTTP and trusts no proxy: ' +
      'cookies are not Secure, and limits and the audit log see the address of the proxy. ' +
      'Set GATEHOUSE_TRUSTED_PROXIES to the addresses of the proxy that terminates TLS, or ' +
      'use an ssl:// endpoint with a certificate',
  )
}

/** Logs a warning if people are to become admins who cannot sign in. */
function warnAboutAdmins({ admins, providers }: Config, log: Logger): void {
  const names = new Set<string>(providers.map(({ name }) => name))
  const missing = admins.filter((admin) => !names.has(admin.split(':', 1)[0] ?? ''))
  if (missing.length === 0) return
  log.warn(
    { admins: missing },
    'GATEHOUSE_ADMINS names people of providers that are not configured, who cannot sign in',
  )
}

/**
 * Returns the id of this installation: eight hexadecimal digits. It is generated once per store,
 * shared by all nodes, and not secret.
 */
export async function instanceId({ db }: Store): Promise<string> {
  await db
    .insertInto('settings')
    .values({ name: 'instance', value: randomBytes(4).toString('hex') })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'instance')
    .executeTakeFirstOrThrow()
  return value
}

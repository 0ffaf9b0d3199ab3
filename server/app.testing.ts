import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createAccess } from './access/access.ts'
import { OPERATOR } from './access/people.ts'
import { createTokenByCommand } from './access-command.ts'
import { type AppDeps, createApp } from './app.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { createRecorder, START } from './audit/record.ts'
import { createDatabaseRegistry } from './databases/registry.ts'
import { createDocumentRules } from './documents/document-rules.ts'
import { createDocuments } from './documents/documents.ts'
import { createDocumentRepository } from './documents/repository.ts'
import { createSchemaChecker } from './documents/schema-checker.ts'
import { createSchemas } from './documents/schemas.ts'
import { createHttpEngine } from './endpoints/http-engine.ts'
import type { Listener } from './endpoints/listener.ts'
import { createMetrics } from './endpoints/metrics.ts'
import { createEndpointRegistry } from './endpoints/registry.ts'
import { createEventHub } from './events/hub.ts'
import { createFaultLog } from './health/log-fault.ts'
import type { Readiness } from './health/readiness.ts'
import type { Via } from './http/env.ts'
import { createJobs } from './jobs/jobs.ts'
import { createLocalProvider } from './oauth2/local-provider.ts'
import { createPendingSignIns } from './oauth2/pending-sign-in.ts'
import { createFailureLimit } from './storage/failure-limit.ts'
import { openStore } from './storage/open.ts'
import { createVault } from './storage/vault.ts'

/** An endpoint through which a request comes; by default one that reaches every database. */
export const via = (over: Partial<Via> = {}): Via => ({
  name: 'tcp://127.0.0.1:8529',
  address: { scheme: 'tcp' },
  mapping: { names: [], defaultDatabase: '_system' },
  draining: new AbortController().signal,
  ...over,
})

/** One with the database `blog` for its default. */
export const blog = via({ mapping: { names: ['blog', '_system'], defaultDatabase: 'blog' } })

/** One that is not of this machine alone. */
export const outside = via({ name: 'tcp://0.0.0.0:8529' })

/**
 * The application with a store and a console of its own, and a database `blog`, for tests of routes
 * without a socket: requests are handed to it as if an endpoint had. To be closed.
 */
export async function openApp() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  const events = createEventHub()
  const record = createRecorder()
  const readiness: Readiness = {
    reason: null,
    readOnly: null,
    connections: () => ({ used: 0, waiting: 0 }),
  }
  const lines: string[] = []
  const consoleFolder = join(folder, 'console')
  mkdirSync(join(consoleFolder, 'assets'), { recursive: true })
  writeFileSync(
    join(consoleFolder, 'index.html'),
    '<meta name="csp-nonce" content="__CSP_NONCE__"><i>__DRAIN_SECONDS__</i><b>__CERTIFICATE__</b>',
  )
  writeFileSync(join(consoleFolder, 'sign-in.html'), '<title>Sign in</title>')
  writeFileSync(join(consoleFolder, 'theme.js'), 'theme()')
  writeFileSync(join(consoleFolder, 'assets', 'main-abc.js'), 'main()')
  for (const font of ['geist-latin-ext', 'geist-latin', 'geist-mono-latin'])
    writeFileSync(join(consoleFolder, 'assets', `${font}-wght-normal-abc.woff2`), '')
  const store = await openStore({ data: folder }, 'node')
  const vault = createVault(new Uint8Array(32))
  const access = createAccess({ store, vault, record, admins: [], now: Date.now })
  const token = await createTokenByCommand(store, record, { name: 'a', role: 'admin' }, Date.now())
  const databases = await createDatabaseRegistry(store, events.publish, record)
  await databases.create('blog', START)
  const engine = createHttpEngine<Listener>()
  const endpoints = createEndpointRegistry({
    store,
    record,
    engine,
    certificate: undefined,
    publish: events.publish,
    grace: 0,
  })
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) })
  const failures = createFailureLimit(store, Date.now, () => {})
  const deps: AppDeps = {
    responses: engine,
    access,
    documents: createDocuments(createDocumentRepository(store), Date.now),
    jobs: createJobs({
      store,
      rules: createDocumentRules(Date.now),
      now: Date.now,
      pause: async () => {},
      onError: () => {},
    }),
    schemas: createSchemas(store, createSchemaChecker()),
    sizes: { of: async () => new Map(), stop: async () => {} },
    providers: [],
    localProvider: createLocalProvider({
      store,
      vault,
      secretKey: new Uint8Array(32),
      operatorKey: () => 'the operator key',
      fingerprint: (key) => key,
      publicOrigin: 'https://gate.example.org',
      countFailure: failures.count,
      now: Date.now,
      onError: () => {},
    }),
    pendingSignIns: createPendingSignIns(store, vault, Date.now),
    countFailure: failures.count,
    instance: 'test',
    trustedProxies: [],
    endpoints,
    databases,
    audit: createAuditLog(store),
    events,
    metrics: createMetrics(() => endpoints.listeners()),
    readiness,
    log,
    logFault: createFaultLog(store, log),
    node: 'a',
    otherListeners: () => [],
    otherNodes: () => [],
    publicOrigin: 'https://gate.example.org',
    drain: 30_000,
    certificate: false,
    consoleFolder,
    catchUp: () => undefined,
    freshness: undefined,
  }
  const app = createApp(deps)
  return {
    app,
    /** What it is made of, for one that is made of something else. */
    deps,
    access,
    events,
    readiness,
    store,
    /** An API token of an admin. */
    token,
    /** What is in the log. */
    lines,
    /** Asks with the token of the admin, unless it is told another credential. */
    async ask(path: string, init: RequestInit = {}, through = via()) {
      const headers = new Headers(init.headers)
      if (!headers.has('Host')) headers.set('Host', 'localhost:8529')
      if (!headers.has('Authorization') && !headers.has('Cookie')) {
        headers.set('Authorization', `Bearer ${token}`)
      }
      return app.request(path, { ...init, headers }, { via: through })
    },
    /** The cookie of a new session of the operator. */
    async signedIn() {
      const tokens = { access: 'x', refresh: null, expires: null }
      const secret = await access.signIn(
        { ...OPERATOR, name: null, tokens, operatorKey: 'x' },
        { address: null, userAgent: null },
      )
      return { Cookie: `gatehouse_test=${secret}` }
    },
    async close() {
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

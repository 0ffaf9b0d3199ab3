import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { pino } from 'pino'
import { fingerprint } from '../access/secrets/secret-files.ts'
import { createApp } from '../app.ts'
import { createRecorder, START } from '../audit/record.ts'
import { createTokenByCommand } from '../cli/commands/token-create.ts'
import { OPERATOR } from '../contract/access/principal.ts'
import { createReadiness } from '../health/readiness.ts'
import type { ListenerContext } from '../http/env.ts'
import { createModules } from '../modules.ts'
import { openStore, type StoreLocation } from '../storage/open.ts'
import type { Store } from '../storage/store.ts'
import { createVault } from '../storage/vault.ts'
import { SETTINGS } from './start.testing.ts'

/** The operator key of the application. */
const OPERATOR_KEY = 'the operator key'

/** An endpoint that receives a request; by default it reaches every database. */
export const listener = (over: Partial<ListenerContext> = {}): ListenerContext => ({
  name: 'tcp://127.0.0.1:8529',
  address: { scheme: 'tcp' },
  mapping: { names: [], defaultDatabase: '_system' },
  draining: new AbortController().signal,
  ...over,
})

/** An endpoint whose default database is `blog`. */
export const blog = listener({ mapping: { names: ['blog', '_system'], defaultDatabase: 'blog' } })

/** An endpoint that is reachable from other machines. */
export const outside = listener({ name: 'tcp://0.0.0.0:8529' })

/**
 * Opens the application with its own store, console and database `blog`, for tests of routes
 * without a socket. Call `close` afterwards.
 *
 * @param location the store, by default SQLite in a temporary folder.
 * @param wrap returns the store that the application uses.
 */
export async function openApp(location?: StoreLocation, wrap = (store: Store): Store => store) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  const lines: string[] = []
  const consoleFolder = join(folder, 'console')
  mkdirSync(join(consoleFolder, 'assets'), { recursive: true })
  writeFileSync(
    join(consoleFolder, 'index.html'),
    '<meta name="csp-nonce" content="__CSP_NONCE__"><i>__DRAIN_SECONDS__</i><b>__ACME__</b>',
  )
  writeFileSync(join(consoleFolder, 'sign-in.html'), '<title>Sign in</title>')
  writeFileSync(join(consoleFolder, 'theme.js'), 'theme()')
  writeFileSync(join(consoleFolder, 'assets', 'main-abc.js'), 'main()')
  writeFileSync(join(consoleFolder, 'assets', 'main-abc.js.br'), brotliCompressSync('main()'))
  for (const font of ['geist-latin-ext', 'geist-latin', 'geist-mono-latin'])
    writeFileSync(join(consoleFolder, 'assets', `${font}-wght-normal-abc.woff2`), '')
  const store = wrap(await openStore(location ?? { data: folder }, 'node'))
  const vault = createVault(new Uint8Array(32))
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) })
  const readiness = createReadiness(log)
  const stack = new AsyncDisposableStack()
  const modules = await createModules(
    {
      config: {
        ...SETTINGS,
        data: folder,
        publicOrigin: 'https://gate.example.org',
        node: 'a',
        drain: 30_000,
      },
      store,
      vault,
      readiness,
      consoleFolder,
      log,
      droppedLogLines: () => 0,
      secretKey: new Uint8Array(32),
      operatorKey: () => OPERATOR_KEY,
      instance: 'test',
      untilAvailable: (step) => step(),
    },
    stack,
  )
  readiness.reason = null
  const record = createRecorder()
  const token = await createTokenByCommand(store, record, { name: 'a', role: 'admin' }, Date.now())
  await modules.databases.create('blog', START)
  const app = createApp(modules)
  return {
    app,
    /** The modules, for tests that replace some of them. */
    modules,
    access: modules.access,
    events: modules.hub,
    readiness,
    store,
    /** An API token of an admin. */
    token,
    /** The lines of the log. */
    lines,
    /** Sends a request with the admin's token unless it carries other credentials. */
    async request(path: string, init: RequestInit = {}, through = listener()) {
      const headers = new Headers(init.headers)
      if (!headers.has('Host')) headers.set('Host', 'localhost:8529')
      if (!headers.has('Authorization') && !headers.has('Cookie')) {
        headers.set('Authorization', `Bearer ${token}`)
      }
      return app.request(path, { ...init, headers }, { listener: through })
    },
    /** Signs in as the operator. Returns the header `Cookie`. */
    async signedIn() {
      const secret = await modules.access.signIn(
        { ...OPERATOR, name: null, accessToken: 'x', operatorKey: fingerprint(OPERATOR_KEY) },
        { address: null, userAgent: null },
      )
      return { Cookie: `gatehouse_test=${secret}` }
    },
    async close() {
      await stack.disposeAsync()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

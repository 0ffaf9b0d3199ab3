import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createTokenText } from '../access/secrets/secret-text.ts'
import { NAMES, startTestDirectory } from '../certificates/acme/directory.testing.ts'
import { account } from '../certificates/acme/stored-orders.ts'
import { createTestAuthority } from '../certificates/certificates.testing.ts'
import { readSealed } from '../certificates/sealed-setting.ts'
import { authority, readCertificates, readSecret } from '../certificates/stored-certificates.ts'
import { invariant } from '../contract/invariant.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { startTestProvider } from '../oauth2/providers/provider.testing.ts'
import { createBrowser } from '../oauth2/sign-in/browser.testing.ts'
import { HEALTH_SOCKET } from '../storage/data-folder.ts'
import { openStore } from '../storage/open.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { type Canaries, createCanary, findCanaries } from '../test-support/canaries.testing.ts'
import { CONSOLE_HEADERS } from '../test-support/operator-session.testing.ts'
import { killProcesses, startProcess } from '../test-support/server-process.testing.ts'
import { sendRequest, type TestResponse } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'

// Uses every feature of a server that has secrets, at log level trace. Then searches for the
// secrets in everything that the server wrote or sent.

/**
 * Starts an OpenID provider that fails according to its `fault` and repeats everything it receives.
 */
async function startTalkativeIssuer() {
  const { publicKey } = generateKeyPairSync('ed25519')
  const issuer = { origin: '', fault: { status: 400, error: 'invalid_grant' }, heard: '' }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { origin } = issuer
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    if (request.url?.startsWith('/.well-known/')) {
      return json(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
        jwks_uri: `${origin}/jwks`,
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      })
    }
    if (request.url === '/jwks') return json(200, { keys: [publicKey.export({ format: 'jwk' })] })
    const basic = request.headers.authorization?.replace(/^Basic /, '') ?? ''
    const heard = `${Buffer.from(basic, 'base64')} ${Buffer.concat(parts)}`
    issuer.heard += heard
    const { status, error } = issuer.fault
    if (status === 401)
      response.setHeader('WWW-Authenticate', `Basic realm="${heard.replace(/[^!-~ ]|"/g, '')}"`)
    if (status === 502) return response.writeHead(502).end(`<html>${heard}</html>`)
    if (status === 200) return json(200, { access_token: heard, token_type: 'x', id_token: heard })
    return json(status, { error: error || heard, error_description: heard, error_uri: heard })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  issuer.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return issuer
}

forEngine('postgres', (engine) => {
  let data: string
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'gatehouse-secrets-'))
  })
  afterEach(async () => {
    await killProcesses()
    rmSync(data, { recursive: true, force: true })
  })

  test('no secret is logged, returned or stored in plain text', async () => {
    const [port = 0] = await freePorts(1)
    const origin = `http://127.0.0.1:${port}`
    const canaries: Canaries = new Map()
    const secret = (name: string, value = createCanary(name)) => {
      canaries.set(name, value)
      return value
    }
    const provider = await startTestProvider([
      {
        client_id: 'gatehouse',
        client_secret: secret('client-secret'),
        redirect_uris: [`${origin}/_oauth2/oauth2/auth`],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ])
    onTestFinished(() => provider.close())
    const issuer = await startTalkativeIssuer()
    const directory = await startTestDirectory()
    const directoryAuthority = join(data, 'directory.pem')
    writeFileSync(directoryAuthority, directory.ca)

    const location = engine.location()
    const env: Record<string, string> = {
      GATEHOUSE_OPERATOR_KEY: secret('operator-key'),
      GATEHOUSE_SECRET_KEY: secret('secret-key', randomBytes(32).toString('base64')),
      GATEHOUSE_ADMINS: 'oauth2:id-of-ada',
      GATEHOUSE_OAUTH2_AUTH_ENDPOINT: `${provider.authEndpoint}?scope=openid`,
      GATEHOUSE_OAUTH2_TOKEN_ENDPOINT: provider.tokenEndpoint,
      GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT: provider.activeUserEndpoint,
      GATEHOUSE_OAUTH2_CLIENT_ID: 'gatehouse',
      GATEHOUSE_OAUTH2_CLIENT_SECRET: secret('client-secret', canaries.get('client-secret')),
      GATEHOUSE_OAUTH2_CALLBACK: 'exact',
      GATEHOUSE_OIDC_ISSUER: issuer.origin,
      GATEHOUSE_OIDC_CLIENT_ID: 'gatehouse',
      GATEHOUSE_OIDC_CLIENT_SECRET: secret('issuer-client-secret'),
      GATEHOUSE_ACME_DIRECTORY: directory.url,
      GATEHOUSE_ACME_TERMS: 'agreed',
      GATEHOUSE_ACME_HTTP_PORT: `${port}`,
      NODE_EXTRA_CA_CERTS: directoryAuthority,
    }
    if ('databaseUrl' in location) {
      // The test PostgreSQL accepts any password; the client sends it anyway.
      const url = new URL(location.databaseUrl)
      url.password = secret('database-password')
      env.GATEHOUSE_DATABASE_URL = url.href
    }
    const folder = 'data' in location ? location.data : data
    const accessLog = join(data, 'access.log')
    const flags = ['--data', folder, '--endpoint', `tcp://127.0.0.1:${port}`, '--log', 'trace']
    flags.push('--access-log', accessLog)
    const server = await startProcess(flags, { env })

    // Responses: they may contain a secret only where the server issues it.
    const answers: [string, string][] = []
    const collect = (
      what: string,
      { status, headers, text }: TestResponse,
    ): TestResponse['json'] => {
      const rest = { ...headers }
      if (status === 303) delete rest['set-cookie']
      answers.push([what, `${status} ${JSON.stringify(rest)} ${text}`])
      const isJson = headers['content-type']?.startsWith('application/json') ?? false
      return isJson && text !== '' ? JSON.parse(text) : undefined
    }
    const tell = async (
      method: string,
      path: string,
      headers: Record<string, string> = {},
      body?: unknown,
    ) => {
      const response = await sendRequest(port, method, path, { headers, body })
      const shown = /^POST .*token$/.test(`${method} ${path}`)
        ? { ...response, text: '{}' }
        : response
      collect(`${method} ${path}`, shown)
      return response
    }
    const cookieOf = (answer: TestResponse, name: string) =>
      answer.headers['set-cookie']
        ?.map((line) => line.split(';')[0] ?? '')
        .find((pair) => pair.startsWith(name)) ?? ''

    // Sign in with a wrong and with the right operator key.
    const browser = createBrowser()
    const page = await browser.post(`${origin}/_oauth2/local/auth`, {})
    const wrong = await browser.post(page.url, { key: secret('wrong-key') })
    expect(wrong.status).toBe(403)
    const here = await browser.post(
      page.url,
      { key: env.GATEHOUSE_OPERATOR_KEY ?? '' },
      (url) => url.pathname === '/',
    )
    for (const each of [page, wrong, here]) answers.push(['key page', each.text])
    for (const [key, { value }] of browser.jar) {
      // The id of the key page is part of its URL; its cookie is protected by a signature.
      if (!/ gatehouse_idp_(?:key|resume)$/.test(key)) secret(`cookie ${key}`, value)
    }
    expect([...browser.jar.keys()].join()).toContain(' / gatehouse_')

    // Sign in at a provider with a wrong and with the right code.
    const start = async (name: string) => {
      const response = await tell('POST', `/_oauth2/${name}/auth`)
      expect(response.status).toBe(303)
      return { cookie: cookieOf(response, 'oauth2_csrf'), to: response.headers.location ?? '' }
    }
    const callback = async (name: string, cookie: string, query: string) => {
      const state = cookie.split('=')[1] ?? ''
      return tell('GET', `/_oauth2/${name}/auth?state=${state}&${query}`, { Cookie: cookie })
    }
    const refused = await start('oauth2')
    expect((await callback('oauth2', refused.cookie, `code=${secret('code')}`)).status).toBe(400)
    const started = await start('oauth2')
    const back = await provider.authorize(started.to)
    secret('right-code', back.searchParams.get('code') ?? '')
    const signedIn = await tell('GET', back.pathname + back.search, { Cookie: started.cookie })
    expect(signedIn.status).toBe(303)
    const session = cookieOf(signedIn, 'gatehouse_')
    secret('session', session.split('=')[1])

    // An issuer that repeats what it receives, with each kind of failure.
    for (const fault of [
      { status: 400, error: 'invalid_grant' },
      { status: 400, error: '' },
      { status: 401, error: 'invalid_client' },
      { status: 401, error: '' },
      { status: 502, error: '' },
      { status: 200, error: '' },
    ]) {
      issuer.fault = fault
      const { cookie } = await start('oidc')
      const code = secret(`code-${fault.status}-${fault.error || 'echo'}`)
      expect((await callback('oidc', cookie, `code=${code}`)).status).toBeGreaterThan(399)
    }
    expect(issuer.heard).toContain(canaries.get('issuer-client-secret'))

    // Tokens: created, used in both forms, invalid, revoked. Changes: successful and rejected.
    const sessionHeaders = { Cookie: session, ...CONSOLE_HEADERS }
    const made = await tell('POST', '/_api/token', sessionHeaders, {
      name: 'canary',
      role: 'admin',
    })
    expect(made.status).toBe(201)
    const token = secret('token', made.json.token)
    const bearer = { Authorization: `Bearer ${token}` }
    const basic = (text: string) => ({ Authorization: `Basic ${btoa(text)}` })
    expect((await tell('GET', '/_api/endpoint', basic(`${token}:`))).status).toBe(200)
    await tell('GET', '/_api/endpoint', basic(`${token}:${secret('password')}`))
    for (const text of [secret('no-token'), secret('wrong-token', createTokenText())]) {
      await tell('GET', '/_api/endpoint', { Authorization: `Bearer ${text}` })
      await tell('POST', '/_api/database', { Authorization: `Bearer ${text}` }, { name: 'x' })
    }
    await tell('POST', '/_api/database', bearer, { name: 'blog' })
    await tell('POST', '/_api/database', sessionHeaders, { name: 'blog' })
    await tell('POST', '/_api/token', bearer, { name: 'x', role: 'admin', databases: ['1'] })

    // Certificates: one of an ACME directory, a plain and an encrypted key, a wrong passphrase, and
    // one of the local authority.
    const put = (name: string, body: object) =>
      tell('PUT', `/_api/certificate/${name}`, bearer, body)
    expect((await put('ordered', { kind: 'acme', names: NAMES })).status).toBe(200)
    const { certificate, key } = await (await createTestAuthority()).issue('localhost')
    const passphrase = secret('passphrase')
    const encrypted = createPrivateKey(key)
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
      .toString()
    for (const [name, pem] of Object.entries({ key, encrypted })) {
      // A line from the middle.
      secret(`certificate ${name}`, pem.split('\n')[2] ?? '')
    }
    const upload = { kind: 'upload', certificate }
    expect((await put('plain', { ...upload, key })).status).toBe(200)
    expect((await put('encrypted', { ...upload, key: encrypted, passphrase })).status).toBe(200)
    const wrongPassphrase = secret('wrong-passphrase')
    const rejected = { ...upload, key: encrypted, passphrase: wrongPassphrase }
    expect((await put('encrypted', rejected)).status).toBe(422)
    expect((await put('local', { kind: 'local', names: ['localhost'] })).status).toBe(200)
    await expect
      .poll(async () => (await tell('GET', '/_api/certificate/ordered', bearer)).json.order, WAIT)
      .toEqual({ state: 'valid' })

    // Every route that reads, with the token and with the session.
    const spec = (await tell('GET', '/_api/openapi.json', bearer)).json
    const reading = Object.keys(spec.paths).filter((path) => spec.paths[path].get !== undefined)
    expect(reading.length).toBeGreaterThan(12)
    for (const path of [...reading, '/', '/_console/', '/_oauth2/page.css', '/_idp/auth', '/x']) {
      if (path === '/_api/events') continue
      const filled = path.replace('{address}', encodeURIComponent(`tcp://127.0.0.1:${port}`))
      for (const headers of [bearer, { Cookie: session }]) {
        await tell('GET', filled.replace(/\{[^}]*\}/g, 'me'), headers)
      }
    }
    await tell('GET', '/_api/user', bearer)
    await tell('GET', '/_api/token?everybody=true', bearer)
    await tell('GET', '/_api/audit?limit=500', bearer)
    expect((await tell('DELETE', '/_api/session', sessionHeaders)).status).toBe(200)

    // Secrets in paths, where clients may send them by mistake.
    for (const [name, text] of canaries) {
      // The signature of a cookie is as short as an id, and worth nothing without the cookie.
      if (name.endsWith('.sig')) continue
      const path = `/articles/${encodeURIComponent(text)}`
      await sendRequest(port, 'GET', `${path}?token=${encodeURIComponent(text)}`)
      await sendRequest(port, 'GET', `/_db/${encodeURIComponent(text)}/x`, { headers: bearer })
    }
    const requests = (await tell('GET', '/_api/request?limit=1000', bearer)).text
    expect(requests).toContain('"path":"/articles/…"')
    await tell('DELETE', `/_api/token/${made.json.info.id}`, bearer)

    // The provider's access token is stored encrypted.
    const store = await openStore(location, 'tool')
    const { id, access_token } = await store.db
      .selectFrom('people')
      .selectAll()
      .where('provider', '=', 'oauth2')
      .executeTakeFirstOrThrow()
    const vault = createVault(Buffer.from(env.GATEHOUSE_SECRET_KEY ?? '', 'base64'))
    secret('access-token', vault.decrypt(access_token ?? '', `people/${id}/access`))
    // The keys of certificates, of the local authority and of the ACME account are stored, encrypted.
    const names = ['plain', 'encrypted', 'local', 'ordered']
    for (const stored of await readCertificates(store.db, names)) {
      const { key } = readSecret(vault, stored) as { key: string }
      secret(`stored key ${stored.name}`, key.split('\n')[2])
    }
    for (const setting of [account, authority]) {
      const sealed = await readSealed<{ key: string }>(store, vault, setting)
      invariant(sealed, `the server has stored its ${setting.name}`)
      secret(setting.name, sealed.key.split('\n')[2])
    }
    const audit = JSON.stringify(await store.db.selectFrom('audit').selectAll().execute())
    await store.close()
    const stored =
      'data' in location
        ? // While the server runs, so that the write-ahead log is included.
          readdirSync(folder)
            .filter((name) => name !== HEALTH_SOCKET)
            .map((name): [string, string] => [name, readFileSync(join(folder, name), 'latin1')])
        : await dump(location.databaseUrl)
    expect(stored.map(([, text]) => text).join()).toContain('oauth2:id-of-ada')
    server.signal('SIGTERM')
    await server.exit

    const leaks = answers.map(([what, text]) => [what, findCanaries(canaries, text)])
    expect(leaks.filter(([, names]) => names?.length !== 0)).toEqual([])
    expect(server.printed()).toContain('"level":20')
    for (const line of server.printed().split('\n')) {
      expect([line, findCanaries(canaries, line)]).toEqual([line, []])
    }
    expect(findCanaries(canaries, audit)).toEqual([])
    const accesses = readFileSync(accessLog, 'utf8')
    expect(accesses).toContain('"path":"/articles/…"')
    expect(accesses).toContain('"token":"canary"')
    expect(findCanaries(canaries, accesses)).toEqual([])
    for (const [name, text] of stored)
      expect([name, findCanaries(canaries, text)]).toEqual([name, []])
  })
})

/** Returns every row of every table, as text. */
async function dump(connectionString: string): Promise<[string, string][]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const tables: [string, string][] = []
  for (const { name } of rows) {
    const { rows: lines } = await client.query(`select t::text as line from "${name}" t`)
    tables.push([name, lines.map(({ line }) => line).join('\n')])
  }
  await client.end()
  return tables
}

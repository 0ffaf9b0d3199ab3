import { Agent, request as httpRequest } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Policy } from '../contract/endpoints/policy.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { startForTest, type TestNode } from '../test-support/start.testing.ts'
import { compilePolicy, decide } from './decide.ts'

const APP = 'https://app.example'

const POLICIES: readonly (Policy | null)[] = [
  null,
  { readOnly: true },
  { anonymous: { read: true } },
  { anonymous: { read: ['articles'] }, readOnly: true },
  { administration: false },
  { cors: { origins: ['*'] } },
  { cors: { origins: [APP] }, readOnly: true },
  { allow: ['192.0.2.0/24', '::ffff:198.51.100.0/120'] },
  { allow: ['::/0'], deny: ['2001:db8::/64'] },
  {
    deny: ['192.0.2.7'],
    anonymous: { read: ['articles'] },
    cors: { origins: [APP] },
    administration: false,
    readOnly: true,
  },
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'] as const
const CREDENTIALS = ['none', 'invalid', 'viewer', 'editor', 'limited'] as const
const ORIGINS = [undefined, APP, 'https://evil.example'] as const
const CLIENTS = ['192.0.2.7', '198.51.100.9', '::ffff:198.51.100.9', '2001:db8::1', '2001:db8:1::1']

/** Paths with the role that each method needs; null: everyone. Other methods have no route. */
const PATHS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  '/articles/1': { GET: 'viewer', PUT: 'editor' },
  '/notes': { GET: 'viewer', POST: 'editor' },
  '/_index/articles': { GET: 'viewer' },
  '/_feed/articles': { GET: 'viewer', PUT: 'editor' },
  '/_feed/articles/changes': { GET: 'viewer' },
  '/_db/shop/articles': { GET: 'viewer', POST: 'editor' },
  '/_db/_system/_api/address': { GET: 'viewer' },
  '/_db/_system/notes': { GET: 'viewer', POST: 'editor' },
  '/_api/health': { GET: null },
  '/': { GET: null },
}

interface Case {
  readonly method: string
  readonly path: string
  readonly credential: (typeof CREDENTIALS)[number]
  readonly origin: string | undefined
  readonly client: string
}

/** The networks of the policies above, written out. */
function isAdmitted(policy: Policy, client: string): boolean {
  if (policy.deny?.includes('192.0.2.7')) return client !== '192.0.2.7'
  if (policy.deny?.includes('2001:db8::/64')) return client === '2001:db8:1::1'
  if (policy.allow !== undefined) return !client.startsWith('2001:')
  return true
}

/** What docs/http-api.md, "Policies", says about a request, without the code of the server. */
function reference(policy: Policy, test: Case): string {
  const { method, path, credential, origin, client } = test
  if (!isAdmitted(policy, client)) return 'allow'
  if (path.startsWith('/_db/shop')) return 'database'
  const isAdministration = path.startsWith('/_db/_system/_api')
  if (isAdministration && policy.administration === false) return 'administration'
  const isDocuments = !isAdministration && path !== '/_api/health'
  const origins = policy.cors?.origins ?? []
  const isAllowedOrigin =
    origins.includes('*') || (origin !== undefined && origins.includes(origin))
  if (method === 'OPTIONS') {
    return origin !== undefined && isAllowedOrigin && isDocuments ? 'cors' : 'method'
  }
  const needs = PATHS[path]?.[method === 'HEAD' ? 'GET' : method]
  if (needs === undefined) return 'method'
  if (needs !== null) {
    if (credential === 'invalid') return 'credential'
    const { anonymous = 'none' } = policy
    const names = anonymous === 'none' ? [] : anonymous.read
    const isRead = method === 'GET' || method === 'HEAD'
    const isPublic =
      isRead &&
      ((path === '/articles/1' && names !== undefined && (names === true || names.length > 0)) ||
        (path === '/notes' && names === true))
    if (!isPublic) {
      if (credential === 'none') return 'credential'
      if (credential === 'limited') return 'role'
      if (needs === 'editor' && credential === 'viewer') return 'role'
    }
  }
  return policy.readOnly === true && isDocuments && (method === 'POST' || method === 'PUT')
    ? 'readOnly'
    : 'admitted'
}

/** The statuses of rejections; an admitted request has none of them. */
const STATUS: Readonly<Record<string, number>> = {
  allow: 403,
  database: 404,
  administration: 404,
  cors: 204,
  method: 405,
  credential: 401,
  role: 403,
  readOnly: 403,
}
const NAMED_RULES = ['allow', 'administration', 'readOnly']

function* cases(step: number): Generator<Case> {
  let at = 0
  for (const path of Object.keys(PATHS))
    for (const method of METHODS)
      for (const credential of CREDENTIALS)
        for (const origin of ORIGINS)
          for (const client of CLIENTS)
            if (at++ % step === 0) yield { path, method, credential, origin, client }
}

async function openNode(node: TestNode) {
  const { request } = node
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  for (const name of ['blog', 'shop']) await request('POST', '/_api/database', { name })
  await request('POST', '/_api/endpoint', { endpoint, databases: ['blog', '_system'] })
  const create = async (role: string, databases: string[] | null) =>
    (await request('POST', '/_api/token', { name: role, role, databases })).json.token
  const tokens = {
    none: undefined,
    invalid: 'x'.repeat(40),
    viewer: await create('viewer', null),
    editor: await create('editor', null),
    limited: await create('editor', ['shop']),
  }
  const setPolicy = (policy: Policy | null) =>
    policy === null
      ? request('DELETE', `/_api/policy?endpoint=${endpoint}`)
      : request('PUT', `/_api/policy?endpoint=${endpoint}`, policy)
  return { port, tokens, setPolicy }
}

type Tokens = Awaited<ReturnType<typeof openNode>>['tokens']

const agent = new Agent({ keepAlive: true })

function send(port: number, tokens: Tokens, test: Case): Promise<[string, string | undefined]> {
  const { method, path, credential, origin, client } = test
  const token = tokens[credential]
  const headers = {
    'X-Forwarded-For': client,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(origin !== undefined && { Origin: origin }),
    ...(method === 'OPTIONS' && origin && { 'Access-Control-Request-Method': 'PUT' }),
    ...(method === 'PUT' && { 'If-None-Match': '*' }),
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, method, path, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => {
        text += part
      })
      response.on('end', () => {
        const origins = response.headers['access-control-allow-origin']
        const { statusCode = 0 } = response
        const rule = /"rule":"([a-zA-Z]+)"/.exec(text)?.[1] ?? ''
        resolve([`${statusCode} ${rule}`, origins])
      })
    })
    sent.on('error', reject)
    sent.end(method === 'POST' || method === 'PUT' ? '{}' : undefined)
  })
}

/** Compares a response with what the reference says. */
function expectResponse(policy: Policy, test: Case, got: string, origins: string | undefined) {
  const expected = reference(policy, test)
  const [status = '', rule] = got.split(' ')
  const wanted = STATUS[expected]
  const all = JSON.stringify({ policy, test, expected, got })
  // Wrong tokens of an address are limited.
  const isLimited = expected === 'credential' && test.credential === 'invalid' && status === '429'
  if (wanted === undefined) expect(['401', '403', '405', '429'], all).not.toContain(status)
  else if (!isLimited) expect(Number(status), all).toBe(wanted)
  if (test.method !== 'HEAD') expect(rule, all).toBe(NAMED_RULES.includes(expected) ? expected : '')
  const isDocuments = !test.path.includes('/_api')
  const list = policy.cors?.origins ?? []
  const { origin } = test
  const isNamed = isDocuments && origin !== undefined
  const allowed = list[0] === '*' ? '*' : list.find((each) => each === origin)
  expect(origins, all).toBe(isNamed ? allowed : undefined)
}

/** Compares the pure decision with what the reference says. */
function expectDecision(policy: Policy | null, test: Case) {
  const { method, credential, origin, client } = test
  const prefix = /^\/_db\/([a-z_]+)/.exec(test.path)
  const path = prefix === null ? test.path : test.path.slice(prefix[0].length)
  const database = prefix?.[1] ?? 'blog'
  const needs = PATHS[test.path]?.[method === 'HEAD' ? 'GET' : method]
  const rule = decide(policy === null ? undefined : compilePolicy(policy), {
    client,
    method,
    path,
    database,
    origin,
    preflight: method === 'OPTIONS' && origin !== undefined ? 'PUT' : undefined,
    isOwnHost: true,
    isServed: database !== 'shop',
    caller:
      credential === 'none'
        ? 'anonymous'
        : credential === 'invalid'
          ? 'invalid'
          : {
              role: credential === 'viewer' ? 'viewer' : 'editor',
              inScope: credential !== 'limited',
            },
    route: needs === undefined ? 'method' : 'found',
    needs: needs == null ? undefined : needs === 'editor' ? 'editor' : 'viewer',
    collection: path.startsWith('/_') || path === '/' ? undefined : path.split('/')[1],
    isOverRate: false,
  })
  expect(rule ?? 'admitted', JSON.stringify({ policy, test })).toBe(reference(policy ?? {}, test))
}

test('the pure decision follows the documented rules', () => {
  for (const policy of POLICIES) for (const each of cases(1)) expectDecision(policy, each)
})

test('a node follows the documented rules', async () => {
  const node = await startForTest({ trustedProxies: ['127.0.0.1'] })
  onTestFinished(node.stop)
  const { port, tokens, setPolicy } = await openNode(node)
  for (const policy of POLICIES) {
    await setPolicy(policy)
    // 13 has no common divisor with the sizes of the dimensions, so that each value is paired.
    for (const each of cases(13)) {
      const [got, origins] = await send(port, tokens, each)
      expectResponse(policy ?? {}, each, got, origins)
    }
  }
})

test('two nodes that share a store follow the documented rules', async () => {
  const { databaseUrl, remove } = await makeDatabase()
  onTestFinished(remove)
  const settings = { databaseUrl, trustedProxies: ['127.0.0.1'] }
  const first = await startForTest({ ...settings, node: 'a' })
  onTestFinished(first.stop)
  const second = await startForTest({ ...settings, node: 'b' })
  onTestFinished(second.stop)
  const { port, tokens, setPolicy } = await openNode(first)
  for (const [at, policy] of POLICIES.entries()) {
    // Each node changes policies. The one that serves the endpoint applies them at once.
    const changer = at % 2 === 0 ? first : second
    const path = `/_api/policy?endpoint=tcp://127.0.0.1:${port}`
    if (policy === null) await setPolicy(policy)
    else expect((await changer.request('PUT', path, policy)).status).toBe(200)
    const revision = (await second.request('GET', path)).headers.etag
    await expect.poll(async () => (await first.request('GET', path)).headers.etag).toBe(revision)
    for (const each of cases(83)) {
      const [got, origins] = await send(port, tokens, each)
      expectResponse(policy ?? {}, each, got, origins)
    }
  }
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONSOLE_HEADERS, operatorSession } from '../test-support/operator-session.testing.ts'
import { sendRequest, startForTest, type TestNode } from '../test-support/start.testing.ts'

// Tests every changing route with requests from any page in a browser. The routes come from
// /_api/openapi.json; app.test.ts proves that it is complete.

let node: TestNode
let cookie: string
let ownOrigin: string

beforeAll(async () => {
  node = await startForTest()
  cookie = await operatorSession(node)
  ownOrigin = `http://127.0.0.1:${node.port}`
})
afterAll(() => node.stop())

const SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none']
const ORIGINS = [undefined, 'ours', 'http://127.0.0.1:1', 'https://evil.example', 'null']
const MARKS = [undefined, '1']
const TYPES = [
  undefined,
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
]

interface Page {
  readonly site: string | undefined
  readonly origin: string | undefined
  readonly mark: string | undefined
}

/** The ways to authenticate a request, each with the pages that it is accepted from. */
const credentials = (): [string, Record<string, string>, (page: Page) => boolean][] => [
  [
    'a session',
    { Cookie: cookie },
    ({ site, origin, mark }) =>
      (site === undefined || site === 'same-origin') &&
      (origin === undefined || origin === ownOrigin) &&
      (site ?? origin) !== undefined &&
      mark === '1',
  ],
  [
    // Browsers add it to requests of any page; other headers do not distinguish it from a script.
    'Basic that a browser remembers',
    {
      Authorization: `Basic ${btoa(`${node.token}:`)}`,
      'User-Agent': 'Mozilla/5.0',
      Cookie: 'other=1',
    },
    ({ site, origin }) =>
      (site === undefined || site === 'same-origin' || site === 'none') &&
      (origin === undefined || origin === ownOrigin),
  ],
  ['a token', { Authorization: `Bearer ${node.token}` }, () => true],
]

const without = (headers: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )

/** Returns every combination of the headers by which a browser describes a page. */
const pages = () =>
  SITES.flatMap((site) =>
    ORIGINS.flatMap((origin) =>
      MARKS.map((mark, at) => ({
        site,
        origin: origin === 'ours' ? ownOrigin : origin,
        mark,
        type: TYPES[(SITES.indexOf(site) + ORIGINS.indexOf(origin) + at) % TYPES.length],
      })),
    ),
  )

async function changingRoutes(): Promise<[string, string][]> {
  const { paths } = (await node.request('GET', '/_api/openapi.json')).json
  return Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
      // Deleting a whole collection starts a job; hundreds of requests would start hundreds.
      .filter((method) => !(method === 'delete' && path === '/{collection}'))
      .map((method): [string, string] => [
        method.toUpperCase(),
        // The target does not exist: accepted requests get another error than 401 and 403.
        `/_db/_system${path.replace(/\{[^}]*\}/g, 'absent')}`,
      ]),
  )
}

test('a change is accepted from the console and from clients that are not pages', async () => {
  const routes = await changingRoutes()
  expect(routes.length).toBeGreaterThan(10)
  const told = await Promise.all(
    routes.flatMap(([method, path]) =>
      credentials().map(async ([who, known, isAccepted]) => {
        const wrong: unknown[] = []
        for (const { site, origin, mark, type } of pages()) {
          // Only sessions require X-Gatehouse. Other credentials are tested with it or without it.
          const isEven = (SITES.indexOf(site) + ORIGINS.indexOf(origin)) % 2 === 0
          if (who !== 'a session' && isEven !== (mark === undefined)) continue
          // Sign-out is tested below, because the other requests need the session.
          if (who === 'a session' && path.endsWith('/_api/session') && mark === '1') continue
          const headers = without({
            ...known,
            'Sec-Fetch-Site': site,
            Origin: origin,
            'X-Gatehouse': mark,
            'Content-Type': type,
          })
          const body = method === 'DELETE' ? undefined : '{'
          const { status } = await sendRequest(node.port, method, path, { headers, body })
          if (status >= 500 || (status === 403) === isAccepted({ site, origin, mark })) {
            wrong.push([method, path, headers, status])
          }
        }
        return wrong
      }),
    ),
  )
  expect(told.flat()).toEqual([])
})

test("a sign-in form is accepted only from the server's own pages", async () => {
  for (const path of ['/_oauth2/local/auth', '/_idp/key/absent']) {
    for (const { site, origin, type } of pages()) {
      const headers = without({ 'Sec-Fetch-Site': site, Origin: origin, 'Content-Type': type })
      const response = await sendRequest(node.port, 'POST', path, { headers, body: '' })
      const isAllowed =
        (site === undefined || site === 'same-origin' || site === 'none') &&
        (origin === undefined || origin === ownOrigin)
      expect([path, headers, response.status === 403]).toEqual([path, headers, !isAllowed])
      if (!isAllowed) expect(response.headers['set-cookie']).toBeUndefined()
    }
  }
})

test('another page cannot sign a person out', async () => {
  for (const { site, origin } of pages()) {
    if (site === 'same-origin' || (site === undefined && origin === ownOrigin)) continue
    const headers = without({ Cookie: cookie, 'Sec-Fetch-Site': site, Origin: origin })
    const response = await sendRequest(node.port, 'DELETE', '/_api/session', {
      headers: { ...headers, 'X-Gatehouse': '1' },
    })
    expect([headers, response.status]).toEqual([headers, 403])
  }
  const headers = { Cookie: cookie, ...CONSOLE_HEADERS }
  expect((await sendRequest(node.port, 'DELETE', '/_api/session', { headers })).status).toBe(200)
})

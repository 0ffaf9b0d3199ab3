import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  endpointPath,
  sendRequest,
  startForTest,
  type TestNode,
  type TestResponse,
} from '../test-support/start.testing.ts'

// Tests which database each endpoint reaches by which name, over real connections
// (docs/http-api.md, "URL space" and "Endpoints").

const MAPPINGS: readonly string[][] = [[], ['a'], ['b'], ['a', 'b'], ['b', '_system']]
const NAMES = [undefined, '_system', 'a', 'b'] as const

let node: TestNode
const ports = new Map<string, number>()

beforeAll(async () => {
  node = await startForTest()
  for (const name of ['a', 'b']) await node.request('POST', '/_api/database', { name })
  let port = 23_500
  for (const databases of MAPPINGS) {
    let answer: TestResponse
    do {
      const endpoint = `tcp://127.0.0.1:${++port}`
      answer = await node.request('POST', '/_api/endpoint', { endpoint, databases })
    } while (answer.status === 409)
    expect(answer.status).toBe(200)
    ports.set(String(databases), port)
  }
})
afterAll(() => node.stop())

/** Returns the database that the rules select; undefined: none. */
function expected(mapping: readonly string[], name: string | undefined): string | undefined {
  if (name === undefined) return mapping[0] ?? '_system'
  return mapping.length === 0 || mapping.includes(name) ? name : undefined
}

const cases = MAPPINGS.flatMap((mapping) =>
  NAMES.map((name) => ({ mapping, name, database: expected(mapping, name) })),
)

describe.each(cases)('an endpoint of [$mapping] asked for $name', ({ mapping, name, database }) => {
  const askHere = (path: string) => {
    const prefix = name === undefined ? '' : `/_db/${name}`
    return node.request('GET', prefix + path, undefined, { port: ports.get(String(mapping)) ?? 0 })
  }

  it(`leads to ${database ?? 'nothing'}`, async () => {
    const root = await askHere('/')
    const list = await askHere('/_api/endpoint')
    const health = await askHere('/_api/health')
    const nowhere = await askHere('/_console/')
    if (database === undefined) {
      expect(root.status).toBe(404)
      expect(root.json).toMatchObject({ id: 'database_not_found' })
      expect(list.json).toMatchObject({ code: 404, errorNum: 1228 })
      expect(health.json).toMatchObject({ code: 404, errorNum: 1228 })
      return
    }
    expect(health.status).toBe(200)
    if (database === '_system') {
      expect(root.status).toBe(302)
      expect(root.headers.location).toBe('/_console/')
      expect(list.status).toBe(200)
      expect(list.json).toHaveLength(MAPPINGS.length + 1)
    } else {
      expect(root.status).toBe(200)
      expect(root.json).toEqual({ service: 'gatehouse', database })
      expect(list.json).toMatchObject({ code: 400, errorNum: 1230 })
    }
    // The console is not built here: it responds with 503, other paths with 404.
    const consoleHere =
      name === undefined
        ? mapping.length === 0 || mapping.includes('_system')
        : database === '_system'
    expect(nowhere.status).toBe(consoleHere ? 503 : 404)
  })
})

describe('an absent database', () => {
  it('is indistinguishable from one outside the mapping', async () => {
    const port = ports.get('a') ?? 0
    const [absent, unmapped] = await Promise.all([
      sendRequest(port, 'GET', '/_db/nothing/articles'),
      sendRequest(port, 'GET', '/_db/b/articles'),
    ])
    expect(absent.status).toBe(404)
    expect(absent.text).toBe(unmapped.text)
    const byNoName = await sendRequest(port, 'GET', '/_db/%E0%A4%A/x')
    expect(byNoName.text).toBe(unmapped.text)
  })

  it('may be mapped before it is created', async () => {
    const endpoint = `tcp://127.0.0.1:${ports.get('a')}`
    await node.request('POST', '/_api/endpoint', { endpoint, databases: ['later', 'a'] })
    const port = ports.get('a') ?? 0
    expect((await sendRequest(port, 'GET', '/')).status).toBe(404)
    await node.request('POST', '/_api/database', { name: 'later' })
    expect((await sendRequest(port, 'GET', '/')).json).toMatchObject({ database: 'later' })
    await node.request('DELETE', '/_api/database/later')
    expect((await sendRequest(port, 'GET', '/')).status).toBe(404)
    await node.request('POST', '/_api/endpoint', { endpoint, databases: ['a'] })
    expect((await node.request('DELETE', endpointPath('tcp://127.0.0.1:1'))).status).toBe(404)
  })
})

describe('/_api/database', () => {
  it('lists _system first, then the others by name', async () => {
    const response = await node.request('GET', '/_api/database')
    expect(response.json).toEqual([{ name: '_system' }, { name: 'a' }, { name: 'b' }])
  })

  it('returns 201 for a new name and 409 / 1207 for an existing one', async () => {
    const created = await node.request('POST', '/_api/database', { name: 'fresh' })
    expect(created.status).toBe(201)
    expect(created.json).toEqual({ result: true, error: false, code: 201 })
    for (const name of ['fresh', '_system']) {
      const again = await node.request('POST', '/_api/database', { name })
      expect(again.json).toMatchObject({ error: true, code: 409, errorNum: 1207 })
    }
    // Names are case-sensitive, so this is another database.
    expect((await node.request('POST', '/_api/database', { name: 'Fresh' })).status).toBe(201)
    await node.request('DELETE', '/_api/database/Fresh')
    const dropped = await node.request('DELETE', '/_api/database/fresh')
    expect(dropped.status).toBe(200)
    expect(dropped.json).toEqual({ result: true, error: false, code: 200 })
    const gone = await node.request('DELETE', '/_api/database/fresh')
    expect(gone.json).toMatchObject({ error: true, code: 404, errorNum: 1228 })
  })

  it.each(['', '1a', '_a', 'a b', 'a/b', 'ä', 'a'.repeat(65)])(
    'returns 400 / 1229 for the name %j',
    async (name) => {
      const response = await node.request('POST', '/_api/database', { name })
      expect(response.json).toMatchObject({ error: true, code: 400, errorNum: 1229 })
    },
  )

  it('drops with a token only databases of its scope', async () => {
    for (const name of ['other', 'own']) await node.request('POST', '/_api/database', { name })
    const scope = { name: 'cleanup', role: 'operator', databases: ['_system', 'own'] }
    const { token } = (await node.request('POST', '/_api/token', scope)).json
    const drop = (name: string) =>
      node.request('DELETE', `/_api/database/${name}`, undefined, {
        headers: { Authorization: `Bearer ${token}` },
      })
    expect((await drop('other')).json).toMatchObject({
      code: 403,
      errorMessage: 'The scope of this token does not include the database other.',
    })
    expect((await drop('own')).status).toBe(200)
    await node.request('DELETE', '/_api/database/other')
  })

  it('returns 403 / 11 for dropping _system', async () => {
    const response = await node.request('DELETE', '/_api/database/_system')
    expect(response.json).toMatchObject({ error: true, code: 403, errorNum: 11 })
  })
})

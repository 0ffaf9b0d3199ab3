import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder } from '../../audit/record.ts'
import { createTokenByCommand } from '../../cli/commands/token-create.ts'
import { atLeast, type Role } from '../../contract/access/principal.ts'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { endpointPath, sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

// Random databases, mappings, tokens and requests on real sockets, compared with a model that is a
// map. Every document carries the mark of its database; a database that is dropped and created
// again has a new mark. A response may contain only the mark of its own database, and its status
// and documents must equal the model's. The model implements all document operations, hence the
// length of this file.

const NAMES = [SYSTEM_DATABASE, 'ada', 'bob', 'cy'] as const
const IDS = ['1', '2', 'x y'] as const
const COLLECTIONS = ['things', 'others'] as const

interface Doc {
  readonly id: string
  readonly in: string
  readonly n: number
}
interface Stored {
  readonly tag: string
  readonly doc: Doc
}
interface Collection {
  readonly documents: Map<string, Stored>
  /** The maximum that the schema allows for `n`; undefined without a schema. */
  most: number | undefined
}
interface Database {
  readonly mark: string
  readonly collections: Map<string, Collection>
}
interface Token {
  readonly text: string
  readonly role: Role
  readonly databases: readonly string[] | null
}

forEachEngineNode((start) => {
  /** The model. */
  const databases = new Map<string, Database>()
  const mappings = new Map<number, readonly string[]>()
  let made = 0
  let node: EngineNode
  let ports: number[]
  const tokens: Token[] = []

  beforeAll(async () => {
    node = await start()
    ports = (await freePorts(3)) as number[]
    const store = await node.openStore()
    const scopes = [null, ['ada'], ['bob', 'cy'], ['ada', SYSTEM_DATABASE], [SYSTEM_DATABASE]]
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      for (const scope of scopes) {
        const flags = { name: 't', role, ...(scope && { databases: scope.join() }) }
        const text = await createTokenByCommand(store, createRecorder(), flags, Date.now())
        tokens.push({ text, role, databases: scope })
      }
    }
    await store.close()
  })
  afterAll(() => node.stop())

  /** Indexes of a viewer's and an operator's token for every database, and of no token. */
  const [VIEWER, OPERATOR, NOBODY] = [0, 5, 17]

  const name = fc.constantFrom(...NAMES)
  const number = fc.nat({ max: 3 })
  const place = {
    port: fc.nat({ max: 2 }),
    /** The database of the path prefix; null for the endpoint's default. */
    prefix: fc.option(fc.constantFrom(...NAMES, 'never-made')),
    encoded: fc.boolean(),
    /** An index of a token, or of none. */
    token: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(OPERATOR, 10) },
      { weight: 1, arbitrary: fc.nat({ max: 17 }) },
    ),
    collection: fc.constantFrom(...COLLECTIONS),
    id: fc.constantFrom(...IDS),
    n: number,
  }
  const request = fc.record({
    ...place,
    verb: fc.constantFrom(
      'GET',
      'HEAD',
      'PUT',
      'PATCH',
      'DELETE',
      'list',
      'list',
      'create',
      'create',
      'create',
      'bulk',
      'bulk',
      'schema',
      'no schema',
      'patch all',
      'delete all',
      'list job',
      'bulk job',
      'patch job',
      'delete job',
    ),
    /** Another database in which the job is looked up. */
    elsewhere: fc.constantFrom(...NAMES),
    /**
     * The state that a condition names: this document's, that of the same id in another database,
     * or none.
     */
    state: fc.constantFrom('own', 'own', 'foreign', 'stale'),
    header: fc.constantFrom(undefined, undefined, 'If-Match', 'If-None-Match'),
    bulk: fc.array(fc.record({ id: fc.constantFrom(...IDS), n: number }), { maxLength: 3 }),
    filter: fc.option(fc.oneof(number, name)),
    limit: fc.option(fc.integer({ min: 1, max: 3 })),
    after: fc.option(fc.constantFrom(...IDS)),
  })
  type Request = typeof request extends fc.Arbitrary<infer T> ? T : never

  const step = fc.oneof(
    { weight: 30, arbitrary: request },
    {
      weight: 2,
      arbitrary: fc.record({
        map: fc.nat({ max: 2 }),
        names: fc.uniqueArray(fc.constantFrom(...NAMES, 'never-made'), { maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ remake: fc.constantFrom('ada', 'bob', 'cy') }) },
    { weight: 1, arbitrary: fc.record({ drop: fc.constantFrom('ada', 'bob', 'cy') }) },
  )
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  const USUAL: Request = {
    port: 0,
    prefix: 'ada',
    encoded: false,
    token: OPERATOR,
    collection: 'things',
    id: '1',
    n: 3,
    verb: 'create',
    elsewhere: 'bob',
    state: 'own',
    header: undefined,
    bulk: [],
    filter: null,
    limit: null,
    after: null,
  }

  /** A sequence that produces every kind of response, whatever the random sequences produce. */
  const EVERY = [
    {},
    {},
    { verb: 'GET', header: 'If-None-Match' },
    { verb: 'GET', token: VIEWER, prefix: 'bob' },
    { verb: 'PUT', header: 'If-Match' },
    { verb: 'PUT', header: 'If-Match', state: 'stale' },
    { verb: 'PUT', token: VIEWER },
    { verb: 'GET', token: NOBODY },
    { verb: 'GET', port: 2 },
    { prefix: 'bob' },
    { verb: 'PATCH', header: 'If-Match', state: 'foreign' },
    { verb: 'schema', n: 1 },
    { id: '2' },
    { id: '2', prefix: 'bob' },
    { verb: 'list', prefix: 'bob', filter: 'ada' },
    { verb: 'list', prefix: 'bob', limit: 1 },
    { verb: 'list job', prefix: 'bob', elsewhere: 'ada' },
    { verb: 'patch all', prefix: 'bob', n: 2 },
    { verb: 'patch job', prefix: 'bob', n: 1, elsewhere: '_system' },
    { verb: 'bulk job', prefix: 'bob', bulk: [{ id: 'x y', n: 0 }], elsewhere: 'cy' },
    { verb: 'bulk job', prefix: 'bob', bulk: [{ id: 'x y', n: 0 }], elsewhere: 'cy' },
    { verb: 'delete all', prefix: 'bob', filter: 1 },
    { verb: 'delete job', prefix: 'bob', elsewhere: 'ada' },
  ].map((each) => ({ ...USUAL, ...each }) as Request)

  const markOf = (database: string) => databases.get(database)?.mark ?? 'none#0'

  function collectionOf({ collections }: Database, collection: string): Collection {
    const found = collections.get(collection) ?? { documents: new Map(), most: undefined }
    collections.set(collection, found)
    return found
  }

  async function drop(database: string): Promise<void> {
    const was = databases.delete(database)
    expect((await node.request('DELETE', `/_api/database/${database}`)).status).toBe(
      was ? 200 : 404,
    )
  }

  async function make(database: string): Promise<void> {
    expect((await node.request('POST', '/_api/database', { name: database })).status).toBe(201)
    databases.set(database, { mark: `${database}#${++made}`, collections: new Map() })
  }

  async function map(at: number, names: readonly string[]): Promise<void> {
    const body = { endpoint: `tcp://127.0.0.1:${ports[at]}`, databases: names }
    expect((await node.request('POST', '/_api/endpoint', body)).status).toBe(200)
    mappings.set(at, names)
  }

  /**
   * Resets to the same initial state. `_system` cannot be dropped, but its documents can be
   * deleted.
   */
  async function reset(): Promise<void> {
    for (const each of ['ada', 'bob', 'cy']) {
      if (databases.has(each)) await drop(each)
      await make(each)
    }
    for (const [collection, { documents, most }] of databases.get(SYSTEM_DATABASE)?.collections ??
      []) {
      for (const id of documents.keys()) {
        await node.request('DELETE', `/${collection}/${encodeURIComponent(id)}`)
      }
      if (most !== undefined) await node.request('DELETE', `/_schema/${collection}`)
    }
    databases.set(SYSTEM_DATABASE, { mark: `_system#${++made}`, collections: new Map() })
    await map(0, [])
    await map(1, ['ada'])
    await map(2, ['bob', 'never-made', SYSTEM_DATABASE])
  }

  const READS = ['GET', 'HEAD', 'list', 'list job']

  /**
   * Returns the database of a request, or the status that rejects it before its content matters.
   */
  function admitted(requested: Request): { database: Database } | { status: number } {
    const names = mappings.get(requested.port) ?? []
    const wanted = requested.prefix ?? names[0] ?? SYSTEM_DATABASE
    const database = databases.get(wanted)
    if ((names.length > 0 && !names.includes(wanted)) || !database) return { status: 404 }
    const token = tokens[requested.token]
    if (token === undefined) return { status: 401 }
    const needed = READS.includes(requested.verb) ? 'viewer' : 'operator'
    if (!atLeast(token.role, needed)) return { status: 403 }
    if (token.databases !== null && !token.databases.includes(wanted)) return { status: 403 }
    return { database }
  }

  /** Returns the tag that the condition of a request names. */
  function tagOf({ collection, id, state }: Request, own: Database | undefined): string {
    const tagIn = (database: Database | undefined) =>
      database?.collections.get(collection)?.documents.get(id)?.tag
    if (state === 'stale') return 'stale'
    if (state === 'own') return tagIn(own) ?? 'none'
    const others = [...databases.values()].filter((each) => each !== own)
    return others.map(tagIn).find((tag) => tag !== undefined) ?? 'none'
  }

  function send(requested: Request, mark: string, tag: string): Promise<TestResponse> {
    const { verb, collection, id, n, header, prefix, encoded } = requested
    const spelled = encoded && prefix !== null ? `%${prefix.charCodeAt(0).toString(16)}` : undefined
    const shown = spelled === undefined ? prefix : spelled + prefix?.slice(1)
    const base = shown === null ? '' : `/_db/${shown}`
    const token = tokens[requested.token]?.text
    const options = (body?: unknown, condition: typeof header | null = header) => ({
      body,
      headers: {
        ...(verb.endsWith('job') && { Prefer: 'respond-async' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(condition && { [condition]: `"${tag}"` }),
        ...(body !== undefined && {
          'Content-Length': `${Buffer.byteLength(JSON.stringify(body))}`,
        }),
      },
    })
    const to = (method: string, path: string, rest: object) =>
      sendRequest(ports[requested.port] ?? 0, method, base + path, rest)
    const one = `/${collection}/${encodeURIComponent(id)}`
    const all = `/${collection}?${new URLSearchParams(filterOf(requested))}`
    switch (verb) {
      case 'patch all':
      case 'patch job':
        return to('PATCH', all, options({ n }, null))
      case 'delete all':
      case 'delete job':
        return to('DELETE', all, options(undefined, null))
      case 'list':
      case 'list job':
        return to('GET', `/${collection}?${queryOf(requested)}`, options(undefined, null))
      case 'create':
        return to('POST', `/${collection}`, options({ id, in: mark, n }, null))
      case 'bulk':
      case 'bulk job': {
        const body = requested.bulk.map((each) => ({ ...each, in: mark }))
        return to('POST', `/${collection}`, options(body, null))
      }
      case 'schema': {
        const body = { properties: { n: { maximum: n } } }
        return to('PUT', `/_schema/${collection}`, options(body, null))
      }
      case 'no schema':
        return to('DELETE', `/_schema/${collection}`, options(undefined, null))
      case 'PUT':
        return to('PUT', one, options({ in: mark, n }))
      case 'PATCH':
        return to('PATCH', one, options({ n }))
      default:
        return to(verb, one, options())
    }
  }

  const filterOf = ({ filter }: Request): [string, string][] =>
    filter === null
      ? []
      : [typeof filter === 'number' ? ['n', `${filter}`] : ['in', markOf(filter)]]

  function queryOf(requested: Request): URLSearchParams {
    const query = new URLSearchParams(filterOf(requested))
    if (requested.limit !== null) query.set('limit', `${requested.limit}`)
    if (requested.after !== null) query.set('after', requested.after)
    return query
  }

  /** Returns the expected page of the collection. */
  function pageOf(requested: Request, { documents }: Collection): { page: Doc[]; more: boolean } {
    const fitting = [...documents.values()]
      .map(({ doc }) => doc)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .filter((doc) => requested.after === null || doc.id > requested.after)
      .filter((doc) =>
        filterOf(requested).every(([key, value]) => `${doc[key as keyof Doc]}` === value),
      )
    const limit = requested.limit ?? 100
    return { page: fitting.slice(0, limit), more: fitting.length > limit }
  }

  interface Expected {
    readonly status: number
    readonly json?: unknown
    /** The expected final state of the job. */
    readonly job?: object
    readonly done?: (answer: TestResponse) => void
  }

  /** Returns the expected response, and a function that updates the model. */
  function expected(requested: Request, own: Database, tag: string): Expected {
    const { verb, id, n, header } = requested
    const collection = collectionOf(own, requested.collection)
    const { documents, most = Infinity } = collection
    const keep = (doc: Doc) => (answer: TestResponse) => {
      documents.set(doc.id, { doc, tag: String(answer.headers.etag).replaceAll('"', '') })
    }
    const limit = (most: number | undefined) => () => {
      collection.most = most
    }
    const found = documents.get(id)
    const fitting = pageOf({ ...requested, after: null, limit: null }, collection).page
    /**
     * Returns a function that changes every matching document; it deletes them if `next` is
     * undefined.
     */
    const replaceAll = (next: ((doc: Doc) => Doc) | undefined) => () => {
      for (const doc of fitting) {
        if (next === undefined) documents.delete(doc.id)
        else documents.set(doc.id, { doc: next(doc), tag: 'unknown' })
      }
    }
    const patched = replaceAll((doc) => ({ ...doc, n }))
    const unfit = fitting.length > 0 && n > most
    switch (verb) {
      case 'patch all':
        if (unfit) return { status: 422 }
        return { status: 200, json: { changed: fitting.length }, done: patched }
      case 'delete all': {
        const json = { deleted: fitting.length }
        return { status: 200, json, done: replaceAll(undefined) }
      }
      case 'patch job':
        if (unfit) {
          const result = { failed: fitting.length }
          return { status: 202, job: { state: 'done', found: 0, result } }
        }
        return { status: 202, job: { state: 'done', found: fitting.length }, done: patched }
      case 'delete job': {
        const job = { state: 'done', found: fitting.length }
        return { status: 202, job, done: replaceAll(undefined) }
      }
      case 'list job': {
        const { page: documents } = pageOf({ ...requested, limit: null }, collection)
        const job = { state: 'done', found: documents.length, documents }
        return { status: 206, json: pageOf(requested, collection).page, job }
      }
      case 'list':
        return { status: 200, json: pageOf(requested, collection).page }
      case 'schema':
        return { status: collection.most === undefined ? 201 : 200, done: limit(n) }
      case 'no schema':
        if (collection.most === undefined) return { status: 404 }
        return { status: 200, done: limit(undefined) }
      case 'create': {
        if (n > most) return { status: 422 }
        if (found !== undefined) return { status: 409 }
        const doc = { id, in: own.mark, n }
        return { status: 201, json: doc, done: keep(doc) }
      }
      case 'bulk job': {
        // The documents that cannot be stored are left out.
        const fit = requested.bulk.filter((each) => each.n <= most && !documents.has(each.id))
        const first = [...new Map(fit.toReversed().map((each) => [each.id, each])).values()]
        const done = () => {
          for (const each of first) {
            documents.set(each.id, { doc: { ...each, in: own.mark }, tag: 'unknown' })
          }
        }
        const result = { failed: requested.bulk.length - first.length }
        return { status: 202, job: { state: 'done', found: first.length, result }, done }
      }
      case 'bulk': {
        const ids = requested.bulk.map((each) => each.id)
        if (requested.bulk.some((each) => each.n > most)) return { status: 422 }
        if (new Set(ids).size < ids.length) return { status: 409 }
        if (ids.some((each) => documents.has(each))) return { status: 409 }
        const docs = requested.bulk.map((each) => ({ ...each, in: own.mark }))
        // The response for an array has no tag per document, so the model does not know them.
        const done = () => {
          for (const doc of docs) documents.set(doc.id, { doc, tag: 'unknown' })
        }
        return { status: 201, json: docs, done }
      }
    }
    const changes = verb === 'PUT' || verb === 'PATCH'
    if (found === undefined) {
      if (header !== 'If-Match') return { status: 404 }
      return { status: verb === 'PUT' && n > most ? 422 : 412 }
    }
    if (changes && n > most) return { status: 422 }
    const known = found.tag !== 'unknown' && found.tag === tag
    if (header === 'If-Match' && !known) return { status: 412 }
    if (header === 'If-None-Match' && known) return { status: READS.includes(verb) ? 304 : 412 }
    if (verb === 'GET') return { status: 200, json: found.doc }
    if (verb === 'HEAD') return { status: 200 }
    if (verb === 'DELETE') {
      return { status: 200, json: found.doc, done: () => void documents.delete(id) }
    }
    const doc = { ...found.doc, n }
    return { status: 200, json: doc, done: keep(doc) }
  }

  const seen = new Map<string, number>()

  async function perform(requested: Request): Promise<void> {
    const admission = admitted(requested)
    const own = 'database' in admission ? admission.database : undefined
    const tag = tagOf(requested, own)
    const response = await send(requested, own?.mark ?? 'refused#0', tag)
    const marks =
      `${response.text} ${JSON.stringify(response.headers)}`.match(/\w+(?:#|%23)\d+/g) ?? []
    // A link to the next page repeats the filter, which may name another mark.
    const repeated = filterOf(requested).map(([, value]) => encodeURIComponent(value))
    expect(marks.filter((each) => each !== own?.mark && !repeated.includes(each))).toEqual([])
    const { status, json, job, done } =
      own === undefined ? refusal(admission) : expected(requested, own, tag)
    expect([requested.verb, response.status]).toEqual([requested.verb, status])
    if (json !== undefined) expect(response.json).toEqual(json)
    if (job !== undefined) await expectJob(requested, response, job)
    if (own === undefined) expect(response.text).not.toMatch(/"(?:in|n)":/)
    done?.(response)
    if (
      (status === 200 || status === 206) &&
      READS.slice(2).includes(requested.verb) &&
      own !== undefined
    ) {
      const { more } = pageOf(requested, collectionOf(own, requested.collection))
      expect(response.headers.link !== undefined).toBe(more)
    }
    seen.set(`${status}`, (seen.get(`${status}`) ?? 0) + 1)
  }

  /**
   * Waits for a job, and checks that it has this state in its own database and is missing in
   * another.
   */
  async function expectJob(requested: Request, answer: TestResponse, job: object): Promise<void> {
    const database = requested.prefix ?? mappings.get(requested.port)?.[0] ?? SYSTEM_DATABASE
    const location = String(answer.headers.location)
    const id = location.slice(location.indexOf('/_job/'))
    const read = () => node.request('GET', `/_db/${database}${id}`)
    await expect.poll(async () => (await read()).status, { interval: 5 }).toBe(200)
    expect((await read()).json).toMatchObject(job)
    if (requested.elsewhere === database || !databases.has(requested.elsewhere)) return
    const foreign = await node.request('GET', `/_db/${requested.elsewhere}${id}`)
    expect([foreign.status, foreign.json.id]).toEqual([404, 'not_found'])
  }

  const refusal = (admission: object): Expected => ({
    status: (admission as { status: number }).status,
  })

  test(
    "no response contains a document of another database, and each equals the model's",
    async () => {
      const performAll = async (steps: readonly Step[]) => {
        await reset()
        for (const each of steps) {
          if ('map' in each) await map(each.map, each.names)
          else if ('drop' in each) {
            if (databases.has(each.drop)) await drop(each.drop)
          } else if ('remake' in each) {
            if (databases.has(each.remake)) await drop(each.remake)
            await make(each.remake)
          } else await perform(each)
        }
      }
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), performAll),
        { numRuns: 5 * CASES, examples: [[EVERY]] },
      )
      // Without every kind of response the test would prove nothing.
      const statuses = ['200', '201', '202', '206', '304', '401', '403', '404', '409', '412', '422']
      expect(statuses.filter((status) => !seen.has(status))).toEqual([])
    },
    300_000 * CASES,
  )

  test('a removed endpoint serves no more responses', async () => {
    await reset()
    const path = endpointPath(`tcp://127.0.0.1:${ports[1]}`)
    expect((await node.request('DELETE', path)).status).toBe(200)
    await expect(sendRequest(ports[1] ?? 0, 'GET', '/things')).rejects.toThrow('ECONNREFUSED')
  })
})

import { gzipSync } from 'node:zlib'
import type { ApiOperation, Parameter } from '../../../test-support/api-description.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import type { Caller } from './callers.testing.ts'
import {
  anyText,
  type ExampleValues,
  encodeJson,
  generateValue,
  spoil,
} from './generate-value.testing.ts'

export interface GeneratedRequest {
  readonly operation: ApiOperation
  readonly caller: Caller
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  /** The database that the path addresses. */
  readonly database: string
  /** Whether a foreign page, or a page under a foreign host name, could have sent the request. */
  readonly isForged: boolean
  /** Whether the path is certain to match the template of the operation. */
  readonly isPlain: boolean
}

const PREFIXES = ['_system', '_system', '_system', 'blog', 'nowhere', '1a'] as const

/** Conditions and preferences, valid and not. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'If-Match': ['*', '"1"', '"x"', 'W/"x"', '"a", "b"', 'x', '"', ',', '""'],
  'If-None-Match': ['*', '"1"', '"x"', 'x', '*, "x"', '""'],
  Prefer: [
    ...['respond-async', 'return=minimal', 'count=exact', 'return=minimal, respond-async'],
    ...['wait=10', 'return=maximal', 'count=', ';;', 'respond-async;x="'],
  ],
  Accept: [
    ...['application/json', 'application/json; version=1', 'application/json; version=2', '*/*'],
    ...['application/x-ndjson', 'text/csv', 'text/plain', 'application/json;version=', 'x', ',,'],
  ],
  'Accept-Encoding': ['gzip', 'br;q=0.5, zstd', 'identity;q=0, *;q=0', 'gzip;q=x', ''],
  'Last-Event-ID': ['0', 'x-1', '7c549ae3-1'],
  'X-Forwarded-For': ['192.0.2.1', 'x'],
  Range: ['bytes=0-1', 'x'],
}

/** Headers that the pages of this server do not send. */
export const FORGERIES: readonly Readonly<Record<string, string>>[] = [
  { 'X-Gatehouse': '0' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'https://evil.example' },
  { Host: 'evil.example' },
]

const TYPES = [
  ...['application/json', 'application/json', 'application/merge-patch+json', 'text/plain', 'x'],
  ...[
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'multipart/form-data',
  ],
]

const FILTERS = [
  ...['year=2000', 'year:gte=2000', 'author:in=ada,grace', 'title:exists=true', 'year:gte=x'],
  ...['author:starts=a', 'tags:contains=x', 'a.b.c=1', 'a\\.b=1', 'limt=1', '_x=1', 'q=1', ':=1'],
  ...['year:between=1', 'a=\0', 'a=%ff', '%', 'author:ne=', 'year:lt=1e999', 'a..b=1', '.=1'],
]

/**
 * Generates a request of an operation: valid, nearly valid or invalid.
 *
 * @param forgery headers of a foreign page, which is not sent with invalid requests.
 */
export function generateRequest(
  random: Random,
  operation: ApiOperation,
  caller: Caller,
  known: ExampleValues,
  forgery?: Readonly<Record<string, string>>,
): GeneratedRequest {
  const chance = (percent: number) => random(100) < percent
  // Half of the requests are valid as far as the description says.
  const spoiled = forgery === undefined && chance(50)
  let isPlain = true

  const segment = ({ name, schema }: Parameter): string => {
    if (spoiled && chance(10)) {
      isPlain = false
      return pick(random, ODD_SEGMENTS)
    }
    const text = String(generateValue(random, schema, known, `{${name}}`)).toWellFormed()
    if (/^(?:|\.|\.\.|healthz)$/.test(text)) return 'one'
    // A path with U+0000 gets 400 before the caller is checked.
    if (text.includes('\0')) isPlain = false
    return encodeURIComponent(text)
  }
  const named = chance(60) ? pick(random, PREFIXES) : undefined
  const database = named ?? '_system'
  const prefix = named === undefined ? '' : `/_db/${named}`
  const path = operation.path.replace(/\{([a-z]+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((each) => each.in === 'path' && each.name === name)
    return parameter === undefined ? 'one' : segment(parameter)
  })
  const queries = operation.parameters
    .filter((each) => each.in === 'query' && (each.required === true ? !chance(5) : chance(25)))
    .flatMap(({ name, schema }) => {
      const value =
        spoiled && chance(40) ? anyText(random) : generateValue(random, schema, known, name)
      // Filters: each property is a parameter.
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      const pairs = (isObject ? Object.entries(value) : [[name, value] as const]).flatMap(
        ([key, one]) => (Array.isArray(one) ? one : [one]).map((each) => [key, each] as const),
      )
      if (spoiled && chance(10)) pairs.push(...pairs)
      const encode = (value: unknown) => {
        const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
        return encodeURIComponent(text.toWellFormed())
      }
      return pairs.map(([key, each]) => `${encode(key)}=${encode(each)}`)
    })
  if (operation.path === '/{collection}' && chance(40)) queries.push(pick(random, FILTERS))
  if (spoiled && chance(10)) queries.push(pick(random, FILTERS))

  const headers: Record<string, string> = { ...caller.headers }
  const declared = operation.parameters.filter((each) => each.in === 'header')
  for (const name of [...declared.map((each) => each.name), ...Object.keys(HEADERS)]) {
    const likely = declared.some((each) => each.name === name) ? 25 : 3
    const values = HEADERS[name]
    if (values !== undefined && chance(likely)) headers[name] = pick(random, values)
  }
  Object.assign(headers, forgery)
  const body = operation.body === undefined ? undefined : generateBody()
  const isOther = spoiled && chance(5)
  return {
    operation,
    caller,
    headers,
    database,
    isPlain,
    isForged: forgery !== undefined,
    method: isOther
      ? pick(random, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])
      : operation.method === 'GET' && chance(10)
        ? 'HEAD'
        : operation.method,
    target: `${prefix}${path}${queries.length === 0 ? '' : `?${queries.join('&')}`}`.replace(
      /[\0-\x20\x7f]/g,
      encodeURIComponent,
    ),
    body,
  }

  function generateBody(): Buffer | undefined {
    const [type, schema] = pick(random, [...(operation.body ?? [])])
    if (type !== 'application/json' || !chance(5)) headers['Content-Type'] = type
    if (spoiled && chance(10)) headers['Content-Type'] = pick(random, TYPES)
    if (spoiled && chance(3)) return undefined
    let bytes: Buffer
    if (type === 'application/json' || type.endsWith('+json')) {
      let value = generateValue(random, schema, known)
      if (spoiled && chance(60)) value = spoil(random, value)
      bytes = encodeJson(random, value, spoiled && chance(20))
    } else {
      const lines = operation.path === '/_import' ? DUMP : type === 'text/csv' ? CSV : NDJSON
      const kept = spoiled ? lines.filter(() => chance(85)) : lines
      bytes = Buffer.from(kept.join(pick(random, ['\n', '\r\n'])))
      if (spoiled && chance(15)) bytes = bytes.subarray(0, random(bytes.length + 1))
    }
    if (chance(5)) {
      headers['Content-Encoding'] = pick(random, ['gzip', 'gzip', 'br', 'gzip, gzip', 'identity'])
      if (chance(80)) bytes = gzipSync(bytes)
    }
    return bytes
  }
}

/** Segments that may match another route or none. */
const ODD_SEGMENTS = [
  ...['%2e%2e', '%2F', '%00', '%ff', '%', '%zz', '_api', '_x', 'A', 'metrics', 'a%20b', '*'],
  ...['x'.repeat(300), '%F0%9F%98%80', ':id', 'a;b', '__proto__', 'graphql', '%5Fapi'],
]

const NDJSON = [
  '{"id":"l1","year":1843}',
  '{"year":"x","author":{"name":"ada"}}',
  '',
  '{"id":"l2"',
  '{"id":"l1"}',
  '[]',
]
const CSV = ['id,year,author.name', 'c1,1843,ada', 'c2,"1,2",', '"c3', ',,,', '=1,@x,+y']
const DUMP = [
  '{"gatehouse":1,"database":"shop"}',
  '{"collection":"orders","schema":null,"indexes":[{"name":"by-date","fields":["-date"],"unique":false}]}',
  '{"document":{"id":"one","date":"2026-11-23"}}',
  '{"document":{"id":"one"}}',
  '{"end":{"collections":1,"documents":1}}',
]

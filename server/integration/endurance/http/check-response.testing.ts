import { expect } from 'vitest'
import { atLeast } from '../../../contract/access/principal.ts'
import { failureKinds } from '../../../failure.ts'
import { COMMON_HEADERS } from '../../../test-support/api-description.testing.ts'
import type { TestResponse } from '../../../test-support/start.testing.ts'
import type { GeneratedRequest } from './generate-request.testing.ts'

/** Headers that every response has. */
const REQUIRED = ['content-security-policy', 'x-content-type-options', 'referrer-policy']

/** Statuses that the conventions of docs/http-api.md give to any path. */
const CONVENTIONS = [400, 404, 405]

/** Statuses of a path whose dot segments lead elsewhere: the root of `_system` redirects. */
const DOT_SEGMENTS = [200, 302]

/** How a request relates to the permissions in docs/http-api.md. */
export type Access = 'permitted' | 'rejected' | 'uncertain'

/** Returns whether the documented permissions admit a request. */
export function accessOf({
  operation,
  caller,
  database,
  method,
  isForged,
  isPlain,
}: GeneratedRequest): Access {
  const { path, bySession, byToken, methods } = operation
  const isOwn = path.includes('/_api/user/{id}/session')
  if (isForged || !isPlain || (method !== 'HEAD' && method !== operation.method)) return 'uncertain'
  if (!methods.includes(method === 'HEAD' ? 'GET' : method)) return 'uncertain'
  const needed = caller.by === 'token' ? byToken : bySession
  if (needed === 'public') return 'permitted'
  if (caller.by === 'nobody' || caller.by === 'invalid token') return 'rejected'
  if (!atLeast(caller.role, needed)) return 'rejected'
  if (caller.databases !== null && !caller.databases.includes(database)) {
    // The database of a webhook is in its body.
    return path.startsWith('/_api/webhook') ? 'uncertain' : 'rejected'
  }
  // People may see and end their own sessions only, and admins those of others.
  return isOwn && caller.role !== 'admin' ? 'uncertain' : 'permitted'
}

/** Checks the status, headers and body of a response. */
export function checkResponse(request: GeneratedRequest, response: TestResponse): void {
  const { operation, method, database, caller, isForged, isPlain } = request
  const { status, headers, text } = response
  const isApi = operation.path.startsWith('/_api/')
  expect(REQUIRED.filter((name) => headers[name] === undefined)).toEqual([])
  if (status >= 500) {
    expect(status).toBe(503)
    expect(headers['retry-after']).toMatch(/^[0-9]+$/)
  }
  if (status === 405) expect(headers.allow).toMatch(/[A-Z]/)
  if (status === 401) expect(headers['www-authenticate']).toContain('Bearer')

  // Other pages cannot read the responses of GET, but would make changes.
  const isChange = method !== 'GET' && method !== 'HEAD'
  if (isForged && isChange && caller.role !== 'none') {
    expect([400, 403, 404, 421]).toContain(status)
  }
  const access = accessOf(request)
  // An earlier request may have dropped or created the other databases.
  const exists = database === '_system' || status !== 404 || !isDatabaseMissing(text)
  const isServed = exists && !(isApi && database !== '_system' && !isHealth(operation.path))
  if (access === 'rejected') {
    if (isServed) {
      const expected = caller.by === 'nobody' || caller.role === 'none' ? [401, 429] : [403]
      expect(expected).toContain(status)
    } else expect([400, 404]).toContain(status)
  } else if (access === 'permitted') {
    if (caller.by !== 'invalid token') expect(status).not.toBe(401)
    if (!isServed) expect([400, 404]).toContain(status)
  } else {
    const isKnown = caller.by !== 'nobody' && caller.role !== 'none'
    const others = request.target.includes('/%2e%2e') ? DOT_SEGMENTS : []
    if (!isKnown && !isPlain) expect([...CONVENTIONS, ...others, 401, 429]).toContain(status)
  }
  if (method === 'HEAD') expect(text).toBe('')
  else if (status >= 400) checkError(isApi, response)
  if (!isPlain || !isServed) return

  const isDeclared = method === operation.method || method === 'HEAD'
  if (!isDeclared) return
  const described = operation.response(status)
  if (described === undefined) throw new Error(`The description has no ${status}.`)
  const unknown = Object.keys(headers).filter(
    (name) => !COMMON_HEADERS.has(name) && !described.headers.has(name),
  )
  if (!isApi) expect(unknown).toEqual([])
  if (method === 'HEAD' || text === '') return
  const type = String(headers['content-type']).split(';')[0]
  if (described.types.length > 0) expect(described.types).toContain(type)
  if (type === 'application/json') expect(described.violations(JSON.parse(text))).toBe(undefined)
}

const isDatabaseMissing = (text: string) =>
  text === '' || /"errorNum":1228|database_not_found/.test(text)

const isHealth = (path: string) => path.startsWith('/_api/health')

const KINDS = new Set(
  Object.values(failureKinds).flatMap(({ status, errorNum, id }) => [
    `${status} ${errorNum}`,
    `${status} ${id}`,
  ]),
)

/** Checks the form of an error, and that it is one of the documented errors. */
function checkError(isApi: boolean, { status, headers, text }: TestResponse): void {
  expect(headers['content-type']).toMatch(/^application\/json/)
  const body = JSON.parse(text)
  expect(body).toMatchObject(
    'errorNum' in body
      ? { error: true, code: status, errorMessage: expect.stringMatching(/./) }
      : { id: expect.stringMatching(/^[a-z_]+$/), message: expect.stringMatching(/./) },
  )
  if (isApi) expect(body).toHaveProperty('errorNum')
  expect(KINDS).toContain(`${status} ${body.errorNum ?? body.id}`)
}

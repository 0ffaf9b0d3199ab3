import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import type { AuditEntry } from '../../contract/audit.ts'
import { Failure, type FailureCode, failureKinds } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from '../output/render-failure.ts'
import { actionOf, audited, recordRejections } from './audit-change.ts'

const actor = { name: 'github:1', by: 'session', address: '192.0.2.7' } as const

let kept: AuditEntry[] = []
let anonymous = 0
let allowed = true
let errors: unknown[] = []
let recorded = 0
let keep = async (entry: AuditEntry) => void kept.push(entry)

afterEach(() => {
  kept = []
  anonymous = 0
  allowed = true
  errors = []
  recorded = 0
  keep = async (entry) => void kept.push(entry)
})

/** Requests a route that fails with `code`. `signedIn` sets an actor first. */
async function sendRequest(code: FailureCode | undefined, signedIn = true, method = 'DELETE') {
  const app = new Hono<AppEnv>()
    .use(
      recordRejections({
        record: (entry) => keep(entry),
        countAnonymous: () => void anonymous++,
        limit: { consume: () => (allowed ? 0 : 1) },
        onRecorded: () => void recorded++,
        onError: (error) => void errors.push(error),
      }),
    )
    .delete(
      '/:name',
      audited('database.drop', (c) => c.req.param('name')),
      async (c, next) => {
        if (signedIn) c.set('actor', actor)
        await next()
      },
      (c) => {
        if (code !== undefined) throw new Failure(code, 'No.')
        return c.json({})
      },
    )
    .put('/:name', (c) => {
      c.set('actor', actor)
      throw new Failure('conflict', 'No.')
    })
  app.onError((error, c) => renderFailure(toFailure(error), c))
  return app.request('/blog', { method })
}

test.each(Object.keys(failureKinds) as FailureCode[])(
  'a change that ends with %s is recorded if its status is a rejection',
  async (code) => {
    const { status } = failureKinds[code]
    expect((await sendRequest(code)).status).toBe(status)
    const row = {
      actor,
      action: 'database.drop',
      target: 'blog',
      outcome: 'refused',
      before: null,
      after: { refused: code },
    }
    expect(kept).toEqual([401, 403, 409, 412].includes(status) ? [row] : [])
    expect(anonymous).toBe(0)
    expect(recorded).toBe(kept.length)
  },
)

test('a successful change is not recorded by the guard', async () => {
  expect((await sendRequest(undefined)).status).toBe(200)
  expect(kept).toEqual([])
  // The change records itself in its own transaction; only the notification follows here.
  expect(recorded).toBe(1)
})

test('an anonymous rejection publishes no event', async () => {
  expect((await sendRequest(undefined, false)).status).toBe(200)
  expect(recorded).toBe(0)
})

test('an anonymous rejection is counted, not recorded', async () => {
  await sendRequest('unauthenticated', false)
  await sendRequest('forbidden', false)
  await sendRequest('not-found', false)
  expect([kept, anonymous]).toEqual([[], 2])
})

test('a route without a declared action is not recorded', async () => {
  expect((await sendRequest(undefined, true, 'PUT')).status).toBe(409)
  expect(kept).toEqual([])
})

test('a rejection is returned even if it cannot be recorded', async () => {
  keep = () => Promise.reject(new Error('the database is unavailable'))
  expect((await sendRequest('conflict')).status).toBe(409)
  expect(errors).toEqual([new Error('the database is unavailable')])
})

test('handlers that declare an action are recognized', () => {
  expect(actionOf(audited('database.drop', () => ''))).toBe('database.drop')
  expect(actionOf(() => {})).toBeUndefined()
})

test('the records of repeated rejections are limited', async () => {
  allowed = false
  await sendRequest('conflict')
  expect(kept).toEqual([])
  expect(anonymous).toBe(0)
})

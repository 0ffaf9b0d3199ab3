import { Context } from 'hono'
import { expect, it } from 'vitest'
import type { AppEnv } from '../env.ts'
import { createReadAhead } from './read-ahead.ts'

const context = () => new Context<AppEnv>(new Request('http://127.0.0.1/'))

it('returns what was begun for a request once, so that a slow request does not keep it', () => {
  const ahead = createReadAhead((c) => ({ c }))
  const [one, other] = [context(), context()]
  ahead.begin(one)
  expect(ahead.take(other)).toBeUndefined()
  expect(ahead.take(one)).toEqual({ c: one })
  expect(ahead.take(one)).toBeUndefined()
})

it('returns nothing if the read failed', () => {
  const ahead = createReadAhead(() => {
    throw new Error('a path that is not valid')
  })
  const c = context()
  ahead.begin(c)
  expect(ahead.take(c)).toBeUndefined()
})

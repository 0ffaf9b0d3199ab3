import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { AppEnv } from '../env.ts'
import { createSessionCookie } from './session-cookie.ts'

const cookie = createSessionCookie('x', 60_000)

async function read(header: string | undefined, secure = false): Promise<string | undefined> {
  const found: (string | undefined)[] = []
  const app = new Hono<AppEnv>().get('/', (c) => {
    found.push(cookie.read(c, secure))
    return c.text('')
  })
  await app.request('/', { headers: header === undefined ? {} : { Cookie: header } }, {})
  return found[0]
}

describe('the session cookie', () => {
  it.each([
    ['gatehouse_x=secret'],
    ['a=1; gatehouse_x=secret'],
    ['a=1;gatehouse_x=secret;b=2'],
    ['gatehouse_x=secret ; b=2'],
    ['gatehouse_xy=1; gatehouse_x=secret'],
    ['__Host-gatehouse_x=1; gatehouse_x=secret'],
    ['a=gatehouse_x; gatehouse_x=secret'],
    ['gatehouse_x=secret; gatehouse_x=secret'],
  ])('is found in "%s"', async (header) => {
    expect(await read(header)).toBe('secret')
  })

  it.each([
    [undefined],
    ['a=1'],
    ['gatehouse_xy=1'],
    ['gatehouse_x'],
    ['GATEHOUSE_X=1'],
    ['gatehouse_x=planted; gatehouse_x=secret'],
  ])('is not in %j', async (header) => {
    expect(await read(header)).toBe(undefined)
  })

  it('has another name on encrypted connections', async () => {
    const both = 'gatehouse_x=open; __Host-gatehouse_x=secret'
    expect(await read(both, true)).toBe('secret')
    expect(await read(both, false)).toBe('open')
    expect(cookie.set('secret', true)).toMatch(/^__Host-gatehouse_x=secret; .*Secure/)
  })
})

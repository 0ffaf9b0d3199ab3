import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'
import { createBrowser } from '../sign-in/browser.testing.ts'

// Tests a whole node: sign in with its operator key, administer, sign out.

let node: TestNode
let origin: string

beforeEach(async () => {
  node = await startForTest()
  origin = `http://127.0.0.1:${node.port}`
})
afterEach(() => node.stop())

const signIn = async (browser: ReturnType<typeof createBrowser>) => {
  const page = await browser.post(`${origin}/_oauth2/local/auth`, { returnTo: '/_api/session' })
  return browser.post(page.url, { key: node.node.operatorKey.read() })
}

describe('with the operator key', () => {
  test('a person signs in as local:operator with the role admin', async () => {
    const browser = createBrowser()
    const session = await signIn(browser)
    expect(JSON.parse(session.text)).toMatchObject({
      person: { username: 'local:operator', provider: 'local', role: 'admin' },
      by: 'session',
    })
    const endpoints = await browser.get(`${origin}/_api/endpoint`)
    expect(endpoints.status).toBe(200)
  })

  test('the session ends with sign-out, and the next sign-in asks for the key again', async () => {
    const browser = createBrowser()
    await signIn(browser)
    const out = await browser.request('DELETE', new URL(`${origin}/_api/session`), undefined, {
      'X-Gatehouse': '1',
      'Sec-Fetch-Site': 'same-origin',
    })
    expect(out.status).toBe(200)
    expect((await browser.get(`${origin}/_api/session`)).text).toBe('null')
    const page = await browser.post(`${origin}/_oauth2/local/auth`, {})
    expect(page.url.pathname).toMatch(/^\/_idp\/key\//)
  })

  test('30 concurrent sign-ins create a session each, of one person', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 30 }, async () => JSON.parse((await signIn(createBrowser())).text)),
    )
    expect(new Set(sessions.map(({ person }) => person.id)).size).toBe(1)
    const browser = createBrowser()
    await signIn(browser)
    const people = JSON.parse((await browser.get(`${origin}/_api/user`)).text)
    expect(people).toMatchObject([{ username: 'local:operator', sessions: 31 }])
  })

  test('only the button of the local provider, the last one, leads there', async () => {
    const providers = await createBrowser().get(`${origin}/_api/provider`)
    expect(JSON.parse(providers.text)).toEqual([
      { name: 'local', label: 'Operator key', start: '/_oauth2/local/auth' },
    ])
  })
})

import { afterEach, beforeEach, expect, test } from 'vitest'
import { listener, openApp } from '../test-support/app.testing.ts'
import { CONSOLE_HEADERS } from '../test-support/operator-session.testing.ts'

// Feeds in the stream of events of a page.

let opened: Awaited<ReturnType<typeof openApp>>
/** The end of each open stream. */
const closing: (() => void)[] = []

beforeEach(async () => {
  opened = await openApp()
  await send('POST', '/_api/database', { name: 'shop' })
  for (const path of ['blog/_feed/notes', 'shop/_feed/orders'])
    await send('PUT', `/_db/${path}`, {})
})
afterEach(async () => {
  for (const close of closing.splice(0)) close()
  await opened.close()
})

async function send(method: string, path: string, body?: unknown, more = {}) {
  const headers = { 'Content-Type': 'application/json', ...more }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await opened.request(path, init)
  expect([path, response.ok]).toEqual([path, true])
  return response.json()
}

/** Adds a viewer of all databases. Returns the id of the person, and the headers of a token. */
async function addViewer(subject: string) {
  const signIn = () =>
    opened.access.signIn(
      {
        ...{ provider: 'github', issuer: 'x', subject, name: null },
        ...{ accessToken: 'x', operatorKey: null },
      },
      { address: null, userAgent: null },
    )
  await signIn()
  const people: { id: string; username: string }[] = await send('GET', '/_api/user')
  const id = people.find(({ username }) => username === `github:${subject}`)?.id
  await send('PATCH', `/_api/user/${id}`, { role: 'viewer' })
  const session = { Cookie: `gatehouse_test=${await signIn()}`, ...CONSOLE_HEADERS }
  const { token } = await send('POST', '/_api/token', { name: 'a', role: 'viewer' }, session)
  return { id, headers: { Authorization: `Bearer ${token}` } }
}

/** Opens a stream that follows feeds. */
async function follow(feeds: readonly string[], headers = {}, through = listener()) {
  const query = new URLSearchParams(feeds.map((feed) => ['feed', feed]))
  const response = await opened.request(`/_api/events?${query}`, { headers }, through)
  let text = ''
  let hasEnded = false
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  closing.push(() => void reader?.cancel())
  void (async () => {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      hasEnded = done
      if (done) return
      text += value
    }
  })()
  /** Returns the positions and numbers of changes that the stream sent for a feed. */
  const seen = (feed: string) =>
    [...text.matchAll(/^data: (\{"type":"feed".*)$/gm)]
      .map(([, data = '']) => JSON.parse(data))
      .filter((event) => event.feed === feed)
      .map(({ position, changes }) => [position, changes])
  return { status: response.status, seen, hasEnded: () => hasEnded }
}

const lastOf = async (path: string) => (await send('GET', `/_db/${path}`)).last

test('a stream sends the position of each feed at once, and after changes with their number', async () => {
  const { seen } = await follow(['blog/notes', 'shop/orders'])
  const [notes, orders] = [await lastOf('blog/_feed/notes'), await lastOf('shop/_feed/orders')]
  await expect.poll(() => seen('shop/orders')).toEqual([[orders, 0]])
  await send('POST', '/_db/blog/notes', [{ id: 'a' }, { id: 'b' }])
  const last = await lastOf('blog/_feed/notes')
  await expect
    .poll(() => seen('blog/notes'))
    .toEqual([
      [notes, 0],
      [last, 2],
    ])
  expect(seen('shop/orders')).toHaveLength(1)
})

test('a feed that cannot be read or does not exist ends at once, and others stay', async () => {
  const made = await send('POST', '/_api/token', {
    ...{ name: 'b', role: 'viewer', databases: ['blog', '_system'] },
  })
  const feeds = ['shop/orders', 'blog/none', 'none/notes', 'blog/notes']
  const expected = [[[null, 0]], [[null, 0]], [[null, 0]]]
  const limited = await follow(feeds, { Authorization: `Bearer ${made.token}` })
  const unmapped = await follow(
    feeds,
    {},
    listener({ mapping: { names: ['_system', 'blog'], defaultDatabase: '_system' } }),
  )
  const position = await lastOf('blog/_feed/notes')
  for (const { seen } of [limited, unmapped]) {
    await expect.poll(() => seen('blog/notes')).toEqual([[position, 0]])
    expect(feeds.slice(0, 3).map(seen)).toEqual(expected)
  }
  await send('POST', '/_db/shop/orders', { id: 'a' })
  await send('POST', '/_db/blog/notes', { id: 'a' })
  for (const { seen } of [limited, unmapped]) {
    await expect.poll(() => seen('blog/notes')).toHaveLength(2)
    expect(feeds.slice(0, 3).map(seen)).toEqual(expected)
  }
  const many = Array.from({ length: 11 }, (_, at) => `blog/${at}`)
  expect((await follow(many)).status).toBe(400)
  expect((await follow(['blog'])).status).toBe(400)
})

test('the part of a feed ends with the access of its reader', async () => {
  const { id, headers } = await addViewer('ada')
  const through = { ...listener() }
  const [ada, mapped] = [
    await follow(['shop/orders', 'blog/notes'], headers),
    await follow(['shop/orders', 'blog/notes'], {}, through),
  ]
  const changes = await opened.request('/_db/shop/_feed/orders/changes', {
    headers: { Accept: 'text/event-stream', ...headers },
  })
  for (const { seen } of [ada, mapped]) await expect.poll(() => seen('shop/orders')).toHaveLength(1)
  through.mapping = { names: ['_system', 'blog'], defaultDatabase: '_system' }
  await send('PATCH', `/_api/user/${id}`, { role: 'viewer', databases: ['_system', 'blog'] })
  for (const { seen } of [ada, mapped]) {
    await expect.poll(() => seen('shop/orders').at(-1)).toEqual([null, 0])
  }
  // A stream of its changes ends.
  expect(await changes.text()).toMatch(/^retry: 1000\nid: [0-9a-f]{12}-0\n\n$/)
  // Both still follow the other feed, until it is turned off.
  await send('POST', '/_db/blog/notes', { id: 'a' })
  for (const { seen } of [ada, mapped]) await expect.poll(() => seen('blog/notes')).toHaveLength(2)
  await send('DELETE', '/_db/blog/_feed/notes')
  for (const { seen } of [ada, mapped]) {
    await expect.poll(() => seen('blog/notes').at(-1)).toEqual([null, 0])
  }
  await send('PATCH', `/_api/user/${id}`, { role: 'none' })
  await expect.poll(ada.hasEnded).toBe(true)
  expect(mapped.hasEnded()).toBe(false)
})

test('the part of a feed ends with its database, and followers do not stay behind', async () => {
  const { seen } = await follow(['shop/orders'])
  await expect.poll(async () => (await send('GET', '/_db/shop/_feed'))[0].followers).toBe(1)
  for (const close of closing.splice(0)) close()
  await expect.poll(async () => (await send('GET', '/_db/shop/_feed'))[0].followers).toBe(0)
  const { seen: other } = await follow(['shop/orders'])
  await expect.poll(() => other('shop/orders')).toHaveLength(1)
  await send('DELETE', '/_api/database/shop')
  await expect.poll(() => other('shop/orders').at(-1)).toEqual([null, 0])
  expect(seen('shop/orders')).toHaveLength(1)
})

import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { discardSecrets } from '../access/secrets/stored-secrets.ts'
import { COMMAND_LINE, createRecorder } from '../audit/record.ts'
import { parseDocumentView } from '../documents/query/document-view.ts'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../documents/repository/stored-documents.ts'
import { createFeeds, type Feeds } from '../feed/feeds.ts'
import { print } from '../feed/routes.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { createDeliverer } from './deliverer.ts'
import { createDeliveries } from './deliveries.ts'
import { type Receiver, startReceiver } from './receiver.testing.ts'
import { createAddressCheck, createSend } from './send.ts'
import { createWebhooks } from './webhooks.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const record = createRecorder()
const actor = { name: 'ann', by: 'session', address: null } as const
const onRecord = { record, actor, target: '' }
const notes = { database: '_system', collection: 'notes' }
const by = { name: 'hook', actor }

forEachEngine((engine) => {
  let store: Store
  let feeds: Feeds
  let documents: DocumentRepository
  let receiver: Receiver
  let time: number
  let nodes: AsyncDisposable[]
  const errors: unknown[] = []

  beforeEach(async () => {
    store = await engine.open()
    feeds = createFeeds(store)
    documents = createDocumentRepository(store)
    receiver = await startReceiver()
    time = Date.now()
    nodes = []
    await feeds.put(notes, DAY, onRecord)
  })
  afterEach(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]()
    expect(errors.splice(0)).toEqual([])
  })

  /** Returns the webhooks of a node. */
  function open(of = store) {
    const now = () => time
    const webhooks = createWebhooks({ store: of, record, vault: createVault(KEY), now })
    const deliveries = createDeliveries({
      ...{ store: of, webhooks, print, now },
      feeds: createFeeds(of),
      parseView: parseDocumentView,
      send: createSend(createAddressCheck(['127.0.0.1'])),
    })
    const deliverer = createDeliverer({
      ...{ store: of, webhooks, deliveries, now },
      holdsLock: () => of.acquireLock('webhooks'),
      onDelivered() {},
      onError: (error) => errors.push(error),
    })
    nodes.push(deliverer)
    deliverer.wake()
    return {
      ...{ webhooks, deliveries, deliverer },
      view: async () => webhooks.view(await webhooks.find('hook')),
      async create(input: object = {}) {
        const hook = { name: 'hook', url: receiver.url, database: '_system', filter: '' }
        const all = { ...hook, collections: ['notes'], ...input }
        const created = await webhooks.create(all, '_system', actor)
        deliverer.wake()
        return created
      },
      /** Lets time pass, after which the next attempt is due. */
      pass(ms: number) {
        time += ms
        deliverer.wake()
      },
    }
  }
  const insert = (id: string, more = {}) =>
    documents.insert(notes, [{ id, body: JSON.stringify({ id, ...more }) }])
  const arrived = () =>
    receiver.received.flatMap(({ json }) => json.data.changes.map(({ id }: { id: string }) => id))
  const times = (count: number) => expect.poll(() => receiver.received.length).toBe(count)

  test('changes arrive once, signed and in order, in messages of 256 KiB', async () => {
    const { create, view, deliveries, webhooks } = open()
    await insert('before')
    const { secret } = await create()
    const stored = await documents.read({ ...notes, id: 'before' })
    if (stored === undefined) throw new Error('missing')
    await documents.delete({ ...notes, id: 'before' }, stored)
    const ids = Array.from({ length: 10 }, (_, at) => `n${at}`)
    const text = 'x'.repeat(60_000)
    for (const id of ids) await insert(id, { text })
    await insert('large', { text: 'x'.repeat(300_000) })
    await expect.poll(async () => (await view()).behind.changes).toBe(0)
    expect(arrived()).toEqual(['before', ...ids, 'large'])
    expect(receiver.received.length).toBeGreaterThan(2)
    for (const { headers, body } of receiver.received) {
      expect(body.length).toBeLessThanOrEqual(256 * 1024)
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'documents.changed' })
    }
    const changes = receiver.received.flatMap(({ json }) => json.data.changes)
    expect(changes[0]).toMatchObject({ change: 'deleted' })
    expect(changes[1]).toMatchObject({ change: 'created', document: { id: 'n0', text } })
    expect(changes.at(-1)).not.toHaveProperty('document')
    const listed = await deliveries.list(await webhooks.find('hook'))
    expect(listed.map(({ id }) => id).sort()).toEqual(
      receiver.received.map(({ headers }) => headers['webhook-id']).sort(),
    )
    expect(JSON.stringify(listed)).not.toContain('v1,')
    expect(await view()).toMatchObject({
      state: 'active',
      lastResponse: { status: 204 },
      behind: { changes: 0, oldest: null },
    })
  })

  test('filters and fields apply, and other collections have their own order', async () => {
    await feeds.put({ ...notes, collection: 'tags' }, DAY, onRecord)
    const { create } = open()
    await create({ filter: 'n:gte=5&fields=n', collections: ['notes', 'tags'] })
    await insert('low', { n: 1 })
    await insert('high', { n: 9, text: 'x' })
    await documents.insert({ ...notes, collection: 'tags' }, [
      { id: 't', body: '{"id":"t","n":7}' },
    ])
    await expect.poll(() => arrived().length).toBe(3)
    const changes = receiver.received.flatMap(({ json: { data } }) =>
      data.changes.map((each: object) => ({ ...each, collection: data.collection })),
    )
    expect(changes.filter(({ collection }) => collection === 'notes')).toMatchObject([
      { id: 'low', change: 'deleted' },
      { id: 'high', change: 'created', document: { id: 'high', n: 9 } },
    ])
    expect(changes.find(({ id }) => id === 'high').document).not.toHaveProperty('text')
    expect(changes.find(({ id }) => id === 't').collection).toBe('tags')
  })

  test('a failed message is repeated with its id and body until it arrives', async () => {
    const { create, view, pass, webhooks } = open()
    const target = await startReceiver()
    await create()
    const responses: Receiver['respond'][] = [
      (response) => response.writeHead(500).end('broken'),
      (response) => response.destroy(),
      (response) => response.writeHead(308, { Location: target.url }).end(),
      (response) => response.writeHead(503, { 'Retry-After': '7200' }).end(),
    ]
    receiver.respond = (response, request) =>
      (responses.shift() ?? ((each) => each.writeHead(200).end()))(response, request)
    await insert('a')
    await times(1)
    await expect.poll(async () => (await view()).state).toBe('failing')
    expect(await view()).toMatchObject({
      behind: { changes: 1, oldest: expect.any(String) },
      lastResponse: { status: 500, error: 'The response was 500.' },
    })
    // Waits for the first one.
    await insert('b')
    const delays = [5 * SECOND, 10 * SECOND, 20 * SECOND, 2 * HOUR]
    for (const [at, delay] of delays.entries()) {
      await expect.poll(async () => Date.parse((await view()).retryAt ?? '')).toBe(time + delay)
      pass(delay - 1)
      expect(await webhooks.due()).toEqual([])
      pass(1)
      if (at < 3) await times(at + 2)
    }
    await times(6)
    expect(arrived()).toEqual(['a', 'a', 'a', 'a', 'a', 'b'])
    expect(target.received).toEqual([])
    const repeated = receiver.received.slice(0, 5)
    expect(new Set(repeated.map(({ body }) => body)).size).toBe(1)
    expect(new Set(repeated.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await expect.poll(async () => (await view()).state).toBe('active')
  })

  test('a webhook that fails for a day pauses, and continues from its position', async () => {
    const { create, view, pass, webhooks, deliverer } = open()
    await create()
    receiver.respond = (response) => response.writeHead(500).end()
    await insert('a')
    const begun = time
    for (let attempt = 1; ; attempt++) {
      await times(attempt)
      await expect.poll(async () => (await view()).behind.changes).toBe(1)
      await expect.poll(async () => (await webhooks.find('hook')).attempts).toBe(attempt)
      if (time - begun >= DAY) break
      pass(Date.parse((await view()).retryAt ?? '') - time)
    }
    await expect.poll(async () => (await view()).state).toBe('paused')
    const { reason } = await view()
    expect(reason).toBe(
      'All deliveries have failed for a day. The last error: The response was 500.',
    )
    const audited = await store.db
      .selectFrom('audit')
      .select(['actor', 'target'])
      .where('action', '=', 'webhook.pause')
      .execute()
    expect(audited).toEqual([{ actor: 'webhooks', target: 'hook' }])
    const failed = receiver.received.length
    // 5 s, doubled up to an hour, for a day.
    expect(failed).toBeGreaterThan(30)
    expect(failed).toBeLessThan(40)
    receiver.respond = (response) => response.writeHead(200).end()
    await insert('b')
    pass(HOUR)
    const { gaps } = await webhooks.resume(by)
    deliverer.wake()
    expect(gaps).toEqual([])
    await expect.poll(() => arrived().slice(failed)).toEqual(['a', 'b'])
  })

  test('a message whose outcome cannot be stored is not sent again at once', async () => {
    const transaction = () => Promise.reject(new Error('disk full'))
    const { create, deliverer } = open({ ...store, transaction })
    await create()
    await insert('a')
    await times(1)
    await expect.poll(() => errors.splice(0)).toMatchObject([{ message: 'disk full' }])
    for (const name of ['second', 'third']) {
      const other = await startReceiver()
      await create({ name, url: other.url })
      await insert(name)
      await expect.poll(() => other.received.length).toBe(1)
      await expect.poll(() => errors.splice(0)).toHaveLength(1)
      deliverer.wake()
    }
    expect(receiver.received).toHaveLength(1)
  })

  test('410 pauses at once', async () => {
    const { create, view } = open()
    await create()
    receiver.respond = (response) => response.writeHead(410).end()
    await insert('a')
    await expect.poll(async () => (await view()).reason).toContain('410 Gone')
  })

  test('expired changes pause the webhook, and resuming reports the gap', async () => {
    const { create, view, webhooks, deliverer } = open()
    await create()
    await webhooks.pause(by, 'Paused by ann.')
    for (const id of ['a', 'b', 'c']) await insert(id)
    expect((await view()).behind.changes).toBe(3)
    const expire = async (last: number) => {
      await store.db.updateTable('feed_entries').set({ at: 0 }).where('last', '<=', last).execute()
      await feeds.prune(DAY + 1, () => false)
    }
    await expire(2)
    const { gaps } = await webhooks.resume(by)
    expect(gaps).toEqual([{ collection: 'notes', changes: 2 }])
    deliverer.wake()
    await expect.poll(arrived).toEqual(['c'])
    await expect.poll(async () => (await view()).behind.changes).toBe(0)
    // A renewed feed has other numbers.
    await feeds.remove(notes, onRecord)
    deliverer.wake()
    await expect.poll(async () => (await view()).reason).toContain('notes has no feed')
    await expect(webhooks.resume(by)).rejects.toMatchObject({ code: 'conflict' })
    await feeds.put(notes, DAY, onRecord)
    await insert('d')
    expect((await webhooks.resume(by)).gaps).toEqual([{ collection: 'notes', changes: null }])
    deliverer.wake()
    await expect.poll(arrived).toEqual(['c', 'd'])
  })

  test('two secrets sign for a day after the first is renewed', async () => {
    const { create, webhooks, pass, deliveries } = open()
    const { secret: first } = await create()
    const { secret: second } = await webhooks.renewSecret(by)
    await insert('a')
    await times(1)
    const { body, headers } = receiver.received[0] ?? { body: '', headers: {} }
    for (const secret of [first, second]) new Webhook(secret).verify(body, headers)
    pass(DAY)
    await deliveries.test(await webhooks.find('hook'))
    const signatures = receiver.received.at(-1)?.headers['webhook-signature']?.split(' ')
    expect(signatures).toHaveLength(1)
    const row = await store.db.selectFrom('webhooks').selectAll().executeTakeFirst()
    const audit = await store.db.selectFrom('audit').selectAll().execute()
    const texts = JSON.stringify([row, audit])
    for (const secret of [first, second]) expect(texts).not.toContain(secret.slice(10, 30))
    expect(JSON.stringify(audit)).not.toContain('/hook')
  })

  test('discarded secrets pause the webhook until they are renewed', async () => {
    const { create, view, webhooks, deliverer } = open()
    await create()
    await discardSecrets(store, record, COMMAND_LINE)
    await insert('a')
    expect(await view()).toMatchObject({ state: 'paused' })
    await expect(webhooks.resume(by)).rejects.toMatchObject({ code: 'conflict' })
    const { secret } = await webhooks.renewSecret(by)
    await webhooks.resume(by)
    deliverer.wake()
    await times(1)
    const { body, headers } = receiver.received[0] ?? { body: '', headers: {} }
    new Webhook(secret).verify(body, headers)
  })

  test('a delivery is repeated on request, with its id', async () => {
    const { create, webhooks, deliveries, view } = open()
    await create()
    await insert('a')
    await insert('b')
    await expect.poll(async () => (await view()).behind.changes).toBe(0)
    const count = receiver.received.length
    const hook = await webhooks.find('hook')
    const [last] = await deliveries.list(hook)
    const again = await deliveries.again(hook, last?.id ?? '')
    expect(again).toMatchObject({ id: last?.id, attempts: 2, delivered: true })
    expect(receiver.received.at(-1)).toMatchObject({
      body: receiver.received[count - 1]?.body,
      headers: { 'webhook-id': last?.id },
    })
    await store.db.updateTable('feed_entries').set({ at: 0 }).execute()
    await feeds.prune(DAY + 1, () => false)
    await expect(deliveries.again(hook, last?.id ?? '')).rejects.toMatchObject({ code: 'gone' })
  })

  test('the last 50 deliveries are kept', async () => {
    const { create, webhooks, deliveries } = open()
    await create()
    const hook = await webhooks.find('hook')
    for (let n = 0; n < 52; n++) {
      time++
      await deliveries.test(hook)
    }
    const listed = await deliveries.list(hook)
    expect(listed).toHaveLength(50)
    expect(listed[0]?.at).toBe(new Date(time).toISOString())
  })

  test('another node, or the next process, continues what one began', async () => {
    const first = open()
    await first.create()
    await insert('a')
    await expect.poll(async () => (await first.view()).behind.changes).toBe(0)
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    receiver.respond = () => reach()
    await insert('b')
    await reached
    await insert('c')
    // It ends while the receiver has the message, without having heard of it.
    const next = engine.name === 'sqlite' ? store : await engine.open()
    if (engine.name === 'postgres') {
      const idle = open(next)
      await expect.poll(() => next.acquireLock('webhooks')).toBe(false)
      idle.deliverer.wake()
      expect(arrived()).toEqual(['a', 'b'])
    }
    receiver.respond = (response) => response.writeHead(204).end()
    await first.deliverer[Symbol.asyncDispose]()
    if (engine.name === 'postgres') await store.close()
    const second = open(next)
    await expect
      .poll(async () => {
        second.deliverer.wake()
        return (await second.view()).behind.changes
      })
      .toBe(0)
    expect(arrived().slice(0, 2)).toEqual(['a', 'b'])
    expect(arrived().slice(2)).toEqual(['b', 'c'])
  })
})

const KEY = Buffer.alloc(32, 1)

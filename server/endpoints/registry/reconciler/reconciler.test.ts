import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRecorder, START } from '../../../audit/record.ts'
import { createTestCertificates } from '../../../certificates/certificates.testing.ts'
import type { LiveEvent } from '../../../contract/event.ts'
import type { Store } from '../../../storage/store.ts'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createKeyedLock, readAddress } from '../../address.ts'
import { freePorts } from '../../listeners/free-ports.testing.ts'
import { createHttpEngine } from '../../listeners/http-engine.ts'
import { createMapping } from '../../mapping.ts'
import { createAdminAccess } from '../admin-access.ts'
import { deleteEndpoint, writeEndpoint } from '../endpoint-writer.ts'
import { createListenerSet, type ListenerSet } from '../listener-set.ts'
import { createReconciler, type Reconciler } from './reconciler.ts'

const change = { actor: START, record: createRecorder() }

forEngine('sqlite', (engine) => {
  let store: Store
  let listeners: ListenerSet
  let reconciler: Reconciler
  let events: LiveEvent[]
  let endpoint: string

  beforeEach(async () => {
    store = await engine.open()
    events = []
    const publish = (event: LiveEvent) => void events.push(event)
    listeners = createListenerSet({
      engine: createHttpEngine(),
      certificates: createTestCertificates(),
      isTrustedProxy: () => false,
      adminAccess: createAdminAccess(undefined),
      publish,
      grace: 0,
      openFiles: 1_024,
      peers: undefined,
      log: undefined,
    })
    reconciler = createReconciler({ store, listeners, withLock: createKeyedLock(), publish })
    const [port] = await freePorts(1)
    endpoint = `tcp://127.0.0.1:${port}`
  })
  afterEach(async () => {
    reconciler.stop()
    await listeners.drainAll(0)
  })

  const write = (databases: readonly string[]) =>
    writeEndpoint(store, { endpoint, databases: [...databases] }, change)

  const actual = () => {
    const listener = listeners.get(endpoint)
    return listener && [listener.state, listener.mapping.names, listener.revision]
  }

  test('a stored endpoint is opened, remapped and closed', async () => {
    const first = await write(['a'])
    await reconciler.reconcile(endpoint)
    expect(actual()).toEqual(['listening', ['a'], first])
    const listener = listeners.get(endpoint)
    const second = await write(['b'])
    await reconciler.reconcile(endpoint)
    expect(actual()).toEqual(['listening', ['b'], second])
    // The socket is the same.
    expect(listeners.get(endpoint)).toBe(listener)
    await deleteEndpoint(store, endpoint, change)
    await reconciler.reconcile(endpoint)
    expect(actual()).toBe(undefined)
    expect(listener?.state).toBe('draining')
    const revisions = events.flatMap((event) => (event.type === 'endpoint' ? event.revision : []))
    expect(revisions).toEqual([first, second, null])
  })

  test('an address in its stored state is left alone', async () => {
    await reconciler.reconcile(endpoint)
    expect(actual()).toBe(undefined)
    await write([])
    await reconciler.reconcile(endpoint)
    events = []
    await reconciler.reconcile(endpoint)
    expect(events).toEqual([])
  })

  test('a state older than what was applied since it was read is ignored', async () => {
    const revision = await write(['a'])
    await reconciler.reconcile(endpoint)
    const outdated = [
      { databases: ['b'], revision: revision - 1, policy: undefined },
      { databases: null, revision: revision - 1 },
      { databases: null },
    ]
    for (const desired of outdated) await reconciler.reconcile(endpoint, { desired })
    expect(actual()).toEqual(['listening', ['a'], revision])
    // Nothing has changed since it was read: the store was restored from a backup.
    const desired = { databases: ['b'], revision: revision - 1, policy: undefined }
    await reconciler.reconcile(endpoint, { desired, seen: revision })
    expect(actual()).toEqual(['listening', ['b'], revision - 1])
  })

  test('an endpoint that was closed while it was written matches its stored state afterwards', async () => {
    const written = { databases: ['a'], revision: await write(['a']), policy: undefined }
    await deleteEndpoint(store, endpoint, change)
    await reconciler.reconcile(endpoint, { desired: written, seen: written.revision - 1 })
    expect(actual()).toBe(undefined)
  })

  test('an open listener is used for a new endpoint, and closed if there is one', async () => {
    const desired = { databases: [], revision: await write([]), policy: undefined }
    const opened = listeners.create(readAddress(endpoint), createMapping([]), 0, undefined)
    await opened.open()
    await reconciler.reconcile(endpoint, { desired, opened })
    expect(listeners.get(endpoint)).toBe(opened)
    const another = listeners.create(
      readAddress('tcp://127.0.0.1:0', { anyPort: true }),
      createMapping([]),
      0,
      undefined,
    )
    await another.open()
    await reconciler.reconcile(endpoint, { desired, opened: another })
    await expect(fetch(another.name.replace('tcp', 'http'))).rejects.toThrow()
    expect(listeners.get(endpoint)).toBe(opened)
  })

  test('a failed listener is opened by a retry, and by nothing else', async () => {
    const blocker = listeners.create(readAddress(endpoint), createMapping([]), 0, undefined)
    await blocker.open()
    const revision = await write(['a'])
    await reconciler.reconcile(endpoint)
    expect(actual()).toEqual(['failed', ['a'], revision])
    const listener = listeners.get(endpoint)
    if (listener === undefined) throw new Error('the listener is missing')
    await expect(reconciler.retry(listener)).rejects.toMatchObject({ code: 'conflict' })
    blocker.close()
    await reconciler.reconcile(endpoint)
    expect(listener.state).toBe('failed')
    await reconciler.retry(listener)
    expect(actual()).toEqual(['listening', ['a'], revision])
    // It is open already.
    await reconciler.retry(listener)
  })

  test('a stopping node opens nothing', async () => {
    await write([])
    await listeners.drainAll(0)
    await reconciler.reconcile(endpoint)
    expect(actual()).toBe(undefined)
  })
})

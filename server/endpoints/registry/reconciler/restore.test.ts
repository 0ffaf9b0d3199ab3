import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { START } from '../../../audit/record.ts'
import type { Store } from '../../../storage/store.ts'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { freePorts } from '../../listeners/free-ports.testing.ts'
import type { EndpointRegistry } from '../registry.ts'
import { createLoneRegistry } from './lone-node.testing.ts'

// Changes of endpoints whose turn to be opened has not come while a node starts.

forEngine('sqlite', (engine) => {
  let store: Store
  let registry: EndpointRegistry
  let last: string
  let restoring: Promise<void>

  const listed = () => registry.list().map(({ endpoint }) => endpoint)

  beforeEach(async () => {
    store = await engine.open()
    const addresses = (await freePorts(40)).map((port) => `tcp://127.0.0.1:${port}`).sort()
    await store.db
      .insertInto('endpoints')
      .values(addresses.map((address, at) => ({ address, databases: '[]', revision: at + 1 })))
      .execute()
    await store.db.updateTable('counters').set({ value: 100 }).execute()
    registry = createLoneRegistry(store, false)
    last = addresses.at(-1) as string
    restoring = registry.restore()
    while (listed().length === 0) await nextTurn()
    expect(listed()).not.toContain(last)
  })
  afterEach(() => registry.stop(0))

  test('an endpoint can be removed before it is opened', async () => {
    await registry.remove(last, START)
    await restoring
    expect(listed()).not.toContain(last)
    expect(listed()).toHaveLength(39)
    const stored = store.db.selectFrom('endpoints').select('address').where('address', '=', last)
    expect(await stored.execute()).toEqual([])
  })

  test('an endpoint that another process removes before it is opened is closed by the sync', async () => {
    await store.db.deleteFrom('endpoints').where('address', '=', last).execute()
    await registry.sync()
    await restoring
    expect(listed()).not.toContain(last)
  })
})

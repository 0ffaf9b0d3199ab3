import { expect, test } from 'vitest'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createNodes } from './nodes.ts'
import { DEAD_AFTER } from './repository.ts'

/** Time until the killed predecessor counts as dead, ms. Longer than a few retries take. */
const REMAINING = 4_000

forEngine('postgres', (engine) => {
  test('a restarted node waits for its name while PostgreSQL keeps the connection of its killed predecessor', async () => {
    const [predecessor, store] = [await engine.open(), await engine.open()]
    expect(await predecessor.acquireLock('node a')).toBe(true)
    const seen = Date.now() - DEAD_AFTER + REMAINING
    await predecessor.db
      .insertInto('nodes')
      .values({
        name: 'a',
        run: 'killed',
        place: 'here',
        started_at: seen,
        seen_at: seen,
        report: 1,
        listeners: 0,
      })
      .execute()
    const node = createNodes({
      store,
      name: 'a',
      hostId: 'here',
      onListenersChanged: () => {},
      onPeersChanged: () => {},
      handlePeerCommand: () => {},
      onHeartbeat: async () => {},
      onError: (error) => {
        throw error
      },
    })
    try {
      await node.start()
      const { run } = await store.db
        .selectFrom('nodes')
        .select('run')
        .where('name', '=', 'a')
        .executeTakeFirstOrThrow()
      expect(run).not.toBe('killed')
    } finally {
      await node.stop()
    }
  })
})

import { expect, test, vi } from 'vitest'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createNodes } from './nodes.ts'

forEngine('postgres', (engine) => {
  test.each([-3_600_000, 3_600_000])(
    'a node whose clock is off by %d ms, and then set, uses the clock of the database',
    async (off) => {
      const right = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => right() + off)
      const nothing = () => {}
      const nodes = createNodes({
        store: await engine.open(),
        name: 'a',
        hostId: 'here',
        onListenersChanged: nothing,
        onPeersChanged: nothing,
        handlePeerCommand: nothing,
        onHeartbeat: async () => {},
        onError: nothing,
      })
      await nodes.start()
      expect(Math.abs(nodes.now() - right())).toBeLessThan(1_000)
      expect(Number.isInteger(nodes.now())).toBe(true)
      vi.mocked(Date.now).mockImplementation(right)
      expect(Math.abs(nodes.now() - right())).toBeLessThan(1_000)
      await nodes.stop()
    },
  )
})

import { expect, test, vi } from 'vitest'
import { forEngine } from '../storage/each-engine.testing.ts'
import { createNodes } from './nodes.ts'

forEngine('postgres', (engine) => {
  test.each([-3_600_000, 3_600_000])(
    'a node whose clock is off by %d ms goes by the clock of the store',
    async (off) => {
      const right = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => right() + off)
      const nothing = () => {}
      const nodes = createNodes({
        store: await engine.open(),
        name: 'a',
        place: 'here',
        changed: nothing,
        lookAround: nothing,
        obey: nothing,
        onHeartbeat: async () => {},
        onError: nothing,
      })
      await nodes.start()
      expect(Math.abs(nodes.now() - right())).toBeLessThan(1_000)
      await nodes.stop()
    },
  )
})

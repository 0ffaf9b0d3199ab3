import { test as base, expect } from '@playwright/test'
import { type Faults, watchFaults } from './faults.ts'
import { type Gatehouse, openGatehouse } from './open-gatehouse.ts'

export type { Gatehouse } from './open-gatehouse.ts'

/** What every journey may ask for. */
export interface Fixtures {
  gatehouse: Gatehouse
  /** What starts the server (`test.use`), such as {@link unprivileged}. */
  launcher: readonly string[]
  /** How long it lets connections finish, in seconds. */
  drain: number
  /** Faults in the browser, which fail the test unless it allows them. */
  faults: Faults
}

/**
 * Playwright's `test` with a server for each test. A test fails, though all it expects is there,
 * when the browser met a fault that it did not allow.
 */
export const test = base.extend<Fixtures>({
  launcher: [[], { option: true }],
  drain: [1, { option: true }],

  gatehouse: async ({ launcher, drain }, use, testInfo) => {
    const gatehouse = await openGatehouse({ worker: testInfo.parallelIndex, launcher, drain })
    try {
      await use(gatehouse)
    } finally {
      await gatehouse.close().finally(async () => {
        if (testInfo.status === testInfo.expectedStatus) return
        await testInfo.attach('gatehouse.log', {
          body: gatehouse.log(),
          contentType: 'text/plain',
        })
      })
    }
  },

  baseURL: async ({ gatehouse }, use) => {
    await use(gatehouse.url)
  },

  faults: [
    async ({ context }, use) => {
      const faults = await watchFaults(context)
      await use(faults)
      expect(faults.list(), 'faults in the browser').toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

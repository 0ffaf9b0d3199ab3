import { test as base, expect } from '@playwright/test'
import { awaitInterception } from '../page/await-interception.ts'
import { type BrowserErrors, watchBrowserErrors } from '../page/browser-errors.ts'
import { openSampleData, type SampleData, type SampleRole } from '../sample-data.ts'
import { signInWithKey } from '../sign-in.ts'
import { type GatehouseProcess, openGatehouse } from './open-gatehouse.ts'
import { resetGatehouse } from './reset.ts'

export type { Gatehouse, GatehouseProcess } from './open-gatehouse.ts'

/** Fixtures of every journey. */
export interface Fixtures {
  gatehouse: GatehouseProcess
  /** Errors in the browser; an error that the test does not allow fails it. */
  browserErrors: BrowserErrors
}

/** Fixtures that the tests of a worker share; each is opened for the first test that uses it. */
export interface WorkerFixtures {
  sharedGatehouse: GatehouseProcess
  sample: SampleData
}

/**
 * Playwright's `test` with a server that all tests of a worker share, and a session that their pages
 * share. A test may stop, kill and restart the server. A test that ends sessions uses
 * {@link sessionTest}. A test that changes the configuration of the server, removes its first
 * endpoint, or reads the whole audit log uses {@link freshTest}. A test also fails if the browser had
 * an error that the test did not allow.
 */
export const test = base.extend<Fixtures, WorkerFixtures>({
  // Playwright resets cookies, storage, routes and the clock. A page of a reused context starts
  // faster.
  reuseContext: [true, { scope: 'worker' }],

  sharedGatehouse: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from it
    async ({}, use, { parallelIndex }) => {
      const gatehouse = await openGatehouse({ worker: parallelIndex, oneSession: true })
      await use(gatehouse)
      await gatehouse.close()
    },
    { scope: 'worker' },
  ],

  sample: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from it
    async ({}, use, { parallelIndex }) => {
      const sample = await openSampleData(parallelIndex)
      await use(sample)
      await sample.close()
    },
    { scope: 'worker', timeout: 240_000 },
  ],

  gatehouse: async ({ sharedGatehouse }, use, testInfo) => {
    const before = sharedGatehouse.log().length
    try {
      await use(sharedGatehouse)
      // After a failure, Playwright closes the worker and its server.
      if (testInfo.status === testInfo.expectedStatus) await resetGatehouse(sharedGatehouse)
    } finally {
      if (testInfo.status !== testInfo.expectedStatus) {
        await testInfo.attach('gatehouse.log', {
          body: sharedGatehouse.log().slice(before),
          contentType: 'text/plain',
        })
      }
    }
  },

  baseURL: async ({ gatehouse }, use) => {
    await use(gatehouse.url)
  },

  context: async ({ context }, use) => {
    awaitInterception(context)
    await use(context)
  },

  browserErrors: [
    async ({ context }, use) => {
      const browserErrors = await watchBrowserErrors(context)
      await use(browserErrors)
      const errors = browserErrors.list()
      // Requests may be in progress in the handlers of routes, which the end of the test aborts.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
      expect(errors, 'errors in the browser').toEqual([])
    },
    { auto: true },
  ],
})

interface FreshFixtures {
  /** A program that starts the server (`freshTest.use`), such as {@link unprivileged}. */
  launcher: readonly string[]
  /** How long the server lets connections finish, seconds. */
  drain: number
}

/** {@link test} with a session for each sign-in, and without sessions at the start. */
export const sessionTest = test.extend({
  gatehouse: async ({ gatehouse }, use) => {
    await gatehouse.endSessions()
    const signIn: GatehouseProcess['signIn'] = (page, at = '/_console/endpoints') =>
      signInWithKey(page, gatehouse.operatorKey, at)
    await use(Object.create(gatehouse, { signIn: { value: signIn } }))
  },
})

/** {@link test} with a server and an origin of its own, so that the browser has cached nothing. */
export const freshTest = test.extend<FreshFixtures>({
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
})

/** {@link test} with a person who is signed in to a {@link SampleData}, which the test must not change. */
export const sampleTest = test.extend<{ role: SampleRole | 'anonymous' }>({
  /** The role of the signed-in person. */
  role: ['admin', { option: true }],
  baseURL: async ({ sample }, use) => {
    await use(sample.gatehouse.url)
  },
  storageState: async ({ sample, role }, use) => {
    await use({ cookies: role === 'anonymous' ? [] : [sample.sessions[role]], origins: [] })
  },
})

export { expect }

import { defineConfig, devices } from '@playwright/test'
import { CHROMIUM_ARGS, chromiumPath } from './e2e/support/chromium.ts'

const executablePath = chromiumPath()

/**
 * Browser tests against real servers (`e2e/support/server/gatehouse.ts`). In CI a failed test
 * is repeated once, and `npm test` names it as flaky.
 */
export default defineConfig({
  testDir: 'e2e',
  // `npm test` prints that they are skipped.
  testIgnore: process.env.GATEHOUSE_TEST_PEBBLE === '1' ? [] : ['**/*.pebble.spec.ts'],
  outputDir: 'test-results',
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: true,
  // More than cores, because a test waits for half of its time.
  workers: 3,
  retries: process.env.CI ? 1 : 0,
  // Much longer than on two idle cores, because the machine may be busy.
  timeout: 240_000,
  expect: { timeout: 45_000 },
  reporter: 'list',
  use: {
    // Traces make the tests a quarter slower. Enable them with `npm run e2e -- --trace on`.
    trace: 'off',
    screenshot: 'only-on-failure',
    locale: 'en-US',
    timezoneId: 'UTC',
  },
  projects: [
    {
      name: 'chromium',
      use: {
        ...devices['Desktop Chrome'],
        viewport: { width: 1440, height: 900 },
        launchOptions: {
          // Optimizing compilers cost more than they save in pages that live for seconds.
          args: [...CHROMIUM_ARGS, '--js-flags=--no-opt,--no-maglev'],
          ...(executablePath === undefined ? {} : { executablePath }),
        },
      },
    },
  ],
})

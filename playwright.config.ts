import { defineConfig, devices } from '@playwright/test'
import { CHROMIUM_ARGS, chromiumPath } from './e2e/support/chromium.ts'

const executablePath = chromiumPath()

/**
 * Journeys in a real browser, each against a server of its own (`e2e/support/gatehouse.ts`). A
 * test that passes only at the second try has found something: there are no retries.
 */
export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: true,
  workers: 2,
  retries: 0,
  // Far more than they take on two cores of their own: others may be at work on the machine.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    // Recording one for each test takes a quarter longer: `npm run e2e -- --trace on` where one is wanted.
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
          args: CHROMIUM_ARGS,
          ...(executablePath === undefined ? {} : { executablePath }),
        },
      },
    },
  ],
})

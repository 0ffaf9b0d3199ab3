import { defineConfig } from '@playwright/test'
import journeys from '../../playwright.config.ts'

/**
 * Takes screenshots of every page and state: `npm run screenshots`. It starts servers with sample
 * data and writes to `docs/screenshots/`; only a selection is committed. To take some of them:
 * `npm run screenshots -- --grep panel`.
 */
export default defineConfig({
  ...journeys,
  testDir: '.',
  testMatch: '*.shots.ts',
  outputDir: '../../test-results/screenshots',
  timeout: 240_000,
})

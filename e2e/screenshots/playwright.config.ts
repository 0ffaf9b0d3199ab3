import { defineConfig } from '@playwright/test'
import journeys from '../../playwright.config.ts'

/**
 * Pictures of every page and state, `npm run screenshots`: real servers with data of their own, into
 * `docs/screenshots/`. Only a selection of them is committed. Some of them:
 * `npm run screenshots -- --grep panel`.
 */
export default defineConfig({
  ...journeys,
  testDir: '.',
  testMatch: '*.shots.ts',
  outputDir: '../../test-results/screenshots',
  timeout: 240_000,
})

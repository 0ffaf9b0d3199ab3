import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { compressAssets } from './tools/compress-assets.ts'
import { CHUNKS, PAGES, paintSkeletonFirst } from './tools/console-chunks.ts'

/** Where `npm run dev` expects the server: the default of `--endpoint`. */
const SERVER = 'http://127.0.0.1:8529'

/** Serves the sign-in page at the path at which the server does. */
const signInPage: Plugin = {
  name: 'sign-in-page',
  configureServer(server) {
    server.middlewares.use((request, _, next) => {
      request.url = request.url?.replace(/^\/_console\/sign-in(?=\?|$)/, '/_console/sign-in.html')
      next()
    })
  },
}

/** The files that take longest. At the end, they would keep one worker busy and others idle. */
const LONG =
  /\.dpkg\.test\.ts$|\/(?:package|concurrent-changes|model\.property|kill|small-heap|outage-at-start|nodes|shared-sessions|http-contract|faults)\.test\.ts$/

/** Starts the {@link LONG} files first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** The options of all tests. */
const tests = {
  environment: 'node',
  pool: 'forks',
  // Modules have no state, so the files that a worker runs share them.
  isolate: false,
  // More than cores, because tests spend a third of the time waiting for nodes and timers.
  maxWorkers: 3,
  // Long enough for a busy machine, which takes several times as long.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // `npm test` names a test that needs it as flaky.
  retry: process.env.CI ? 1 : 0,
  // The default of one second is too short for a busy machine. Most polls send a request, and a
  // shorter interval would take much of the CPU time of the other tests.
  expect: { poll: { timeout: 60_000, interval: 50 } },
  restoreMocks: true,
} as const

/**
 * The console's build and development server, and Vitest for everything that is not a browser
 * journey.
 */
export default defineConfig({
  base: '/_console/',
  publicDir: 'web/public',
  plugins: [react(), signInPage, paintSkeletonFirst, compressAssets],
  build: {
    outDir: 'dist/console',
    emptyOutDir: true,
    // The console's policy allows fonts and pictures from its own origin, not from data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: PAGES,
      // Creating a schema has no side effects, so unused schemas are removed from the console.
      treeshake: { manualPureFunctions: ['z'] },
      output: {
        codeSplitting: { groups: CHUNKS },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      // The Host header stays the browser's: the server compares it with the request's origin.
      ['/_db', '/_api', '/_oauth2', '/_idp'].map((path) => [
        path,
        { target: SERVER, changeOrigin: false },
      ]),
    ),
  },
  test: {
    sequence: { sequencer: LongestFirst },
    maxWorkers: tests.maxWorkers,
    projects: [
      {
        test: { ...tests, name: 'console', include: ['web/**/*.test.{ts,tsx}'] },
      },
      {
        test: {
          ...tests,
          name: 'server',
          include: [
            'server/**/*.test.ts',
            'bench/**/*.test.ts',
            'bin/**/*.test.ts',
            '.ci/**/*.test.ts',
            'tools/**/*.test.ts',
          ],
          exclude: [
            ...configDefaults.exclude,
            // Each of these needs a capability of the machine, which .ci/test.ts detects.
            ...(process.env.GATEHOUSE_TEST_STRACE === '1' ? [] : ['**/*.strace.test.ts']),
            ...(process.env.GATEHOUSE_TEST_CURL === '1' ? [] : ['**/*.curl.test.ts']),
            ...(process.env.GATEHOUSE_TEST_NETNS === '1' ? [] : ['**/*.netns.test.ts']),
            ...(process.env.GATEHOUSE_TEST_MOUNT === '1' ? [] : ['**/*.mount.test.ts']),
            ...(process.env.GATEHOUSE_TEST_PEBBLE === '1' ? [] : ['**/*.pebble.test.ts']),
            ...(process.env.GATEHOUSE_TEST_DPKG === '1' ? [] : ['**/*.dpkg.test.ts']),
          ],
          globalSetup: 'server/storage/test-support/postgres.global-setup.ts',
        },
      },
    ],
  },
})

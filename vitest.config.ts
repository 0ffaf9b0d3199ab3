import { configDefaults, defineConfig, mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import console from './vite.config.ts'

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

/** Vitest, for everything that is not a browser journey. */
export default mergeConfig(
  console,
  defineConfig({
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
  }),
)

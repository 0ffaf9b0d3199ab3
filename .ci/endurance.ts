// Runs `npm run test:endurance`: the tests that kill servers and cause faults, with many
// repetitions.

import { randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findMemoryFolder } from './machine/memory-folder.ts'
import { hasMounts } from './machine/namespaces.ts'
import { runCommand } from './run-command.ts'

/** The tests of failures. The variables below repeat most of them. */
const TESTS = [
  'server/integration/failures/kill.test.ts',
  'server/integration/failures/full-disk',
  'server/integration/failures/inaccessible-data.test.ts',
  'server/integration/failures/read-only-disk.mount.test.ts',
  'server/integration/failures/data-folder-lost.test.ts',
  'server/integration/failures/damaged-database.test.ts',
  'server/storage/open.test.ts',
  'server/jobs/integration/clock.test.ts',
  'server/nodes/clock.test.ts',
  'server/rate-limit.test.ts',
  'server/integration/endurance',
  '.property.test.ts',
]

/** Time limit of the whole run, seconds. */
const LIMIT = 30 * 60

const start = performance.now()
/** Returns the rest of the time, seconds. */
const timeLeft = () => LIMIT - (performance.now() - start) / 1_000

/** The folder of the bundled server, which the tests start hundreds of times. */
const BUNDLE = 'dist/test-server'

const {
  GATEHOUSE_TEST_KILLS = '200',
  GATEHOUSE_TEST_MIGRATION_KILLS = '5',
  GATEHOUSE_TEST_FAULTS = '200',
  GATEHOUSE_TEST_CONNECTIONS = '5000',
  GATEHOUSE_TEST_CASES = '10',
  GATEHOUSE_TEST_REQUESTS = '10000',
  // For each of two engines.
  GATEHOUSE_TEST_MODEL_SECONDS = '300',
  GATEHOUSE_TEST_SEED = String(randomInt(1_000_000)),
} = process.env
const env = {
  GATEHOUSE_TEST_KILLS,
  GATEHOUSE_TEST_MIGRATION_KILLS,
  GATEHOUSE_TEST_FAULTS,
  GATEHOUSE_TEST_CONNECTIONS,
  GATEHOUSE_TEST_CASES,
  GATEHOUSE_TEST_REQUESTS,
  GATEHOUSE_TEST_MODEL_SECONDS,
  GATEHOUSE_TEST_SEED,
}
const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
process.stdout.write(`${settings.join(' ')}\n`)
const mounts = await hasMounts()
if (!mounts) process.stdout.write('Skipped: *.mount.test.ts. File systems cannot be mounted.\n')

process.env.TMPDIR = findMemoryFolder() ?? tmpdir()
process.exitCode = await runCommand('node', ['.ci/bundle-server.ts', BUNDLE], { limit: timeLeft() })
if (process.exitCode === 0) {
  process.env.GATEHOUSE_TEST_MAIN = path.resolve(BUNDLE, 'main.mjs')
  process.exitCode = await runCommand('vitest', ['run', ...TESTS], {
    limit: timeLeft(),
    env: { ...env, GATEHOUSE_TEST_MOUNT: mounts ? '1' : '0' },
  })
}
process.stdout.write(`${settings.join(' ')}: ${process.exitCode === 0 ? 'passed' : 'failed'}\n`)

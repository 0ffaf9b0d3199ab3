// Runs `npm run test:endurance`: the tests that kill servers and cause faults, with many
// repetitions.

import { randomInt } from 'node:crypto'
import { runCommand } from './run-command.ts'

/** The tests that `GATEHOUSE_TEST_KILLS`, `…_FAULTS` and `…_CASES` repeat. */
const TESTS = [
  'server/integration/failures/kill.test.ts',
  'server/integration/endurance',
  '.property.test.ts',
]

/** Time limit, seconds: far more than 200 kills and 200 faults take on two cores. */
const LIMIT = 4 * 60 * 60

const {
  GATEHOUSE_TEST_KILLS = '200',
  GATEHOUSE_TEST_FAULTS = '200',
  GATEHOUSE_TEST_CASES = '10',
  GATEHOUSE_TEST_SEED = String(randomInt(1_000_000)),
} = process.env
const env = {
  GATEHOUSE_TEST_KILLS,
  GATEHOUSE_TEST_FAULTS,
  GATEHOUSE_TEST_CASES,
  GATEHOUSE_TEST_SEED,
}
const said = Object.entries(env).map(([name, value]) => `${name}=${value}`)
process.stdout.write(`${said.join(' ')}\n`)
process.exitCode = await runCommand('vitest', ['run', ...TESTS], { limit: LIMIT, env })
process.stdout.write(`${said.join(' ')}: ${process.exitCode === 0 ? 'passed' : 'failed'}\n`)

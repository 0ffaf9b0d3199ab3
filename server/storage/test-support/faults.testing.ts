import { writeSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * For tests, preloaded into a server (`NODE_OPTIONS=--import=…`): lets calls of SQLite fail with an
 * I/O error. Each SIGUSR2 begins the next of {@link PHASES} and says so on standard output.
 */

/** In a phase, every so many calls one fails; 0: none does. */
const PHASES = [0, 1, 2, 3, 7, 0]

let phase = 0
let calls = 0

function failSometimes(): void {
  const every = PHASES[phase] ?? 0
  if (every === 0 || ++calls % every !== 0) return
  throw Object.assign(new Error('disk I/O error'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: 10,
    errstr: 'disk I/O error',
  })
}

for (const [prototype, names] of [
  [StatementSync.prototype, ['run', 'get', 'all']],
  [DatabaseSync.prototype, ['exec', 'prepare']],
] as const) {
  for (const name of names) {
    const original = Reflect.get(prototype, name)
    Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
      failSometimes()
      return Reflect.apply(original, this, args)
    })
  }
}

process.on('SIGUSR2', () => {
  phase++
  // Of a phase that ended with an error, and of calls that it counted, nothing is to be left.
  calls = 0
  writeSync(1, `faults: one of ${PHASES[phase]}\n`)
})

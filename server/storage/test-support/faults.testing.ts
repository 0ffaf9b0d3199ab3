import { writeSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'

// Fault injection for tests, preloaded into a server (`NODE_OPTIONS=--import=…`): makes calls of
// SQLite fail with an I/O error. Each SIGUSR2 starts the next of `PHASES` and prints it.

/** In a phase with value n, every nth call fails. With 0, none fails. */
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
  // Restart the count, so that each phase is independent of the previous one.
  calls = 0
  writeSync(1, `faults: one of ${PHASES[phase]}\n`)
})

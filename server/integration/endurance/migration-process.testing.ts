import { writeSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'
import { openStore } from '../../storage/open.ts'

/**
 * For tests that kill a process while it opens a store: `node migration-process.testing.ts
 * <location as JSON> <n>` kills itself at statement `n` of the migrations: on SQLite before it, on
 * PostgreSQL after it is sent. It prints the number of statements if it opens the store instead.
 */
const [location = '', killAt = '0'] = process.argv.slice(2)
let statements = 0

/** Makes a method count, and kill the process at the given call. */
function count(prototype: object, name: string, sent: boolean): void {
  const original = Reflect.get(prototype, name)
  Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
    const last = ++statements === Number(killAt)
    if (last && !sent) process.kill(process.pid, 'SIGKILL')
    const result = Reflect.apply(original, this, args)
    if (last) process.kill(process.pid, 'SIGKILL')
    return result
  })
}

count(DatabaseSync.prototype, 'exec', false)
for (const name of ['run', 'get', 'all']) count(StatementSync.prototype, name, false)
count(pg.Client.prototype, 'query', true)

const store = await openStore(JSON.parse(location), 'node')
writeSync(1, `${statements}`)
await store.close()

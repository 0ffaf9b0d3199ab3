import { writeSync } from 'node:fs'
import { openStore } from '../open.ts'

/**
 * For tests that need a separate process, to kill it or to trace its system calls: `node
 * child-node.testing.ts <data folder> <count>` opens the store as a node, prints `open`, then
 * inserts `count` databases one at a time and prints `acknowledged <n>` after each. It closes the
 * store when its standard input ends.
 */
const [data = '', count = '0'] = process.argv.slice(2)
const store = await openStore({ data }, 'node')
writeSync(1, 'open\n')
for (let n = 1; n <= Number(count); n++) {
  await store.db
    .insertInto('databases')
    .values({ name: `d${n}`, created_at: n })
    .execute()
  writeSync(1, `acknowledged ${n}\n`)
}
process.stdin.resume().on('end', () => store.close())

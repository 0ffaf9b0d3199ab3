import { parseArgs } from 'node:util'
import { count, print } from './report.ts'
import { type Demand, predict } from './simulation/shared-database.ts'

// Predicts the rate of 1 to 64 nodes that share one PostgreSQL, from the CPU times of
// each operation. `npm run bench:postgres` prints the command with the times that it measured.
// docs/benchmarks.md explains the model.
//
//   npm run bench:simulation -- --read 73.0,12.3 --insert 145.8,33.5
//   npm run bench:simulation -- --read 73.0,12.3 --insert 145.8,33.5 --cores 16

const { values: options } = parseArgs({
  options: {
    /** Cores of the database. */
    cores: { type: 'string', default: '4' },
    /** CPU time of the node and of the database for each operation, µs. */
    read: { type: 'string', default: '' },
    insert: { type: 'string', default: '' },
  },
})
const NODES = [1, 2, 4, 8, 16, 32, 64]
const CLIENTS_OF_NODE = 64

function demandOf(text: string): Demand {
  const [node = Number.NaN, database = Number.NaN] = text.split(',').map(Number)
  if (node >= 0 && database >= 0) return { node, database }
  throw new Error(`--read and --insert take two CPU times, such as 73.0,12.3, not "${text}"`)
}

function show(what: string, demand: Demand): void {
  const databaseCores = Number(options.cores)
  print(`| ${what}: nodes | per second | times one node | ms | use of the database |`)
  print('|---:|---:|---:|---:|---:|')
  const setup = { databaseCores, clientsOfNode: CLIENTS_OF_NODE, thinkTime: 0 }
  const one = predict(demand, { ...setup, nodes: 1 }).rate
  for (const nodes of NODES) {
    const { rate, response, databaseUse } = predict(demand, { ...setup, nodes })
    const use = `${(databaseUse * 100).toFixed(0)} %`
    const times = (rate / one).toFixed(1)
    print(`| ${nodes} | ${count(rate)} | ${times} | ${response.toFixed(1)} | ${use} |`)
  }
  print()
}

print(`${options.cores} cores of the database, one per node, ${CLIENTS_OF_NODE} clients per node`)
print()
show('read by id', demandOf(options.read))
show('insert', demandOf(options.insert))

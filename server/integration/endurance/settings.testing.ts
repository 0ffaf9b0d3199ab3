/** Parses a whole number from the environment. */
function number(name: string, usual: number): number {
  const text = process.env[name]
  if (text === undefined) return usual
  if (!/^[0-9]{1,9}$/.test(text)) throw new Error(`${name} is a whole number, not "${text}".`)
  return Number(text)
}

/** How often the tests kill a server; `npm run test:endurance` sets more. */
export const KILLS = number('GATEHOUSE_TEST_KILLS', 10)

/** Number of faults of nodes, of PostgreSQL and of connections that the tests cause. */
export const FAULTS = number('GATEHOUSE_TEST_FAULTS', 11)

/**
 * Number of starts that are killed while they migrate the store, for each engine and older version.
 * 0: some for one version.
 */
export const MIGRATION_KILLS = number('GATEHOUSE_TEST_MIGRATION_KILLS', 0)

/** Number of connections that the tests hold open at once. */
export const CONNECTIONS = number('GATEHOUSE_TEST_CONNECTIONS', 300)

/** Factor of the number of cases that property tests generate. */
export const CASES = number('GATEHOUSE_TEST_CASES', 1)

/** Number of HTTP requests that are generated for each engine. */
export const REQUESTS = number('GATEHOUSE_TEST_REQUESTS', 100)

/** Number of operations that are compared with a model, for each engine. */
export const OPERATIONS = number('GATEHOUSE_TEST_OPERATIONS', 40)

/** How long operations are compared with a model, seconds for each engine. 0: by their number. */
export const MODEL_SECONDS = number('GATEHOUSE_TEST_MODEL_SECONDS', 0)

/** Seed of the random numbers; the same seed makes the same choices. */
export const SEED = number('GATEHOUSE_TEST_SEED', 8529)

/** Returns a pseudo-random integer from 0 to below `end`. */
export type Random = (end: number) => number

/** Returns a random element of a list that is not empty. */
export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T

/** Returns a generator of pseudo-random integers (mulberry32). */
export function randomNumbers(seed: number): Random {
  let state = seed
  return (end) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * end)
  }
}

/** Returns the generator of one operation, so that it does not depend on earlier ones. */
export const randomNumbersOf = (seed: number, operation: number): Random =>
  randomNumbers(Math.imul(seed, 0x9e3779b1) ^ operation)

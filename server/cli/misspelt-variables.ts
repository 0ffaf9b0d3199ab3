import type { Environment } from './config-access.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

/** Number of characters by which a misspelt name differs from the name of a setting. */
const MAX_DIFFERENCE = 2

const NAMES = [...SETTINGS, ...VARIABLES].map(({ env }) => env)

/** The variables that name a file with a secret. */
const FILES = NAMES.filter((name) => /DATABASE_URL$|(?<!TLS)_KEY$|_SECRET$/.test(name)).map(
  (name) => `${name}_FILE`,
)

const KNOWN = [...NAMES, ...FILES]

/**
 * Returns a message for each variable whose name is nearly that of a setting. Other unknown
 * variables are ignored, because Kubernetes adds some for a service with the name `gatehouse`.
 */
export const findMisspeltVariables = (env: Environment): string[] =>
  Object.keys(env).flatMap((name) => {
    if (!name.startsWith('GATEHOUSE_') || KNOWN.includes(name)) return []
    const [meant] = KNOWN.filter((known) => differenceOf(name, known) <= MAX_DIFFERENCE)
    return meant === undefined ? [] : [`${name} is not a setting. Did you mean ${meant}?`]
  })

/** Returns the Levenshtein distance of two texts. */
function differenceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, character] of [...one].entries()) {
    const next = [at + 1]
    for (let to = 1; to <= other.length; to++) {
      const replaced = Number(row[to - 1]) + Number(character !== other[to - 1])
      next.push(Math.min(replaced, Number(row[to]) + 1, Number(next[to - 1]) + 1))
    }
    row = next
  }
  return Number(row.at(-1))
}

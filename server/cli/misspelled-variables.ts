import { isMisspelling } from '../contract/misspelling.ts'
import type { Environment } from './config-access.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

const KNOWN = [...SETTINGS, ...VARIABLES].flatMap(({ env, isSecret = false }) =>
  isSecret ? [env, `${env}_FILE`] : [env],
)

/**
 * Returns a message for each variable whose name is a misspelling of that of a setting. Other
 * unknown variables are ignored, because Kubernetes adds some for a service with the name `gatehouse`.
 */
export const findMisspelledVariables = (env: Environment): string[] =>
  Object.keys(env).flatMap((name) => {
    if (!name.startsWith('GATEHOUSE_') || KNOWN.includes(name)) return []
    const [meant] = KNOWN.filter((known) => isMisspelling(name, known))
    return meant === undefined ? [] : [`${name} is not a setting. Did you mean ${meant}?`]
  })

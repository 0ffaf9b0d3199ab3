import { isMisspelling } from '../contract/misspelling.ts'
import type { Environment } from './config-access.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

const PREFIX = 'GATEHOUSE_'

const KNOWN = [...SETTINGS, ...VARIABLES].flatMap(({ env, isSecret = false }) =>
  isSecret ? [env, `${env}_FILE`] : [env],
)

/** Words for an address in the names of variables of other servers. */
const ADDRESS_WORDS = ['ADDR', 'ADDRESS', 'BIND', 'HOST', 'LISTEN', 'PORT']

/**
 * Variables that Kubernetes adds for a service whose name begins with `gatehouse`, such as
 * `GATEHOUSE_SERVICE_HOST`, and `GATEHOUSE_PORT` with a URL.
 */
const isFromKubernetes = (name: string, value = ''): boolean =>
  /_(?:SERVICE_(?:HOST|PORT)|PORT_[0-9]+_(?:TCP|UDP|SCTP))(?:_|$)/.test(name) ||
  (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))

const unknownNames = (env: Environment): string[] =>
  Object.keys(env).filter((name) => name.startsWith(PREFIX) && !KNOWN.includes(name))

const misspelled = (name: string): string | undefined =>
  KNOWN.find((known) => isMisspelling(name, known))

/** Returns a message for each variable whose name is a misspelling of that of a setting. */
export const findMisspelledVariables = (env: Environment): string[] =>
  unknownNames(env).flatMap((name) => {
    const meant = misspelled(name)
    return meant === undefined ? [] : [`${name} is not a setting. Did you mean ${meant}?`]
  })

/**
 * Returns a message for each other variable that begins with `GATEHOUSE_` and is not a setting,
 * except those of Kubernetes.
 */
export const findUnknownVariables = (env: Environment): string[] =>
  unknownNames(env).flatMap((name) => {
    if (misspelled(name) !== undefined || isFromKubernetes(name, env[name])) return []
    const meant = settingsLike(name.slice(PREFIX.length).split('_'))
    const question = meant.length === 0 ? '' : ` Did you mean ${meant.join(' or ')}?`
    return [`${name} is not a setting and is ignored.${question}`]
  })

/** Maximum number of settings to suggest. More than a few, such as all client ids, help little. */
const MAX_SUGGESTIONS = 3

/** Returns the settings whose names consist of some of these words, as in `LOG_LEVEL`, or contain all. */
function settingsLike(words: readonly string[]): readonly string[] {
  if (words.some((word) => ADDRESS_WORDS.includes(word))) return ['GATEHOUSE_ENDPOINTS']
  const found = [...SETTINGS, ...VARIABLES].flatMap(({ env }) => {
    const others = env.slice(PREFIX.length).split('_')
    const [fewer, more] = others.length < words.length ? [others, words] : [words, others]
    return fewer.every((word) => more.includes(word)) ? [env] : []
  })
  return found.length > MAX_SUGGESTIONS ? [] : found
}

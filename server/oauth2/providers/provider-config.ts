import { type PresetName, presets } from './presets.ts'

/** How the callback URL is told to a provider, see `sign-in.ts`. */
export const CALLBACK_FORMS = ['csrf-in-url', 'csrf-in-url-identical', 'exact'] as const

/** {@link CALLBACK_FORMS} as a type. */
export type CallbackForm = (typeof CALLBACK_FORMS)[number]

/** The providers of others that can be configured, as paths name them, in the buttons' order. */
export const PROVIDER_NAMES = ['github', 'google', 'facebook', 'oidc', 'oauth2'] as const

interface Registration {
  /** As it stands in paths and usernames. */
  readonly name: (typeof PROVIDER_NAMES)[number]
  /** As people call it. */
  readonly label: string
  readonly form: CallbackForm
  readonly clientId: string
  readonly clientSecret: string
}

/** A provider that was configured: by its issuer (OpenID Connect), or by its endpoints. */
export type ProviderConfig =
  | (Registration & { readonly kind: 'issuer'; readonly issuer: string })
  | (Registration & {
      readonly kind: 'endpoints'
      readonly authEndpoint: string
      readonly tokenEndpoint: string
      readonly refreshEndpoint: string | undefined
      readonly activeUserEndpoint: string
    })

/** Reads one variable; undefined where it is not set. */
export interface ReadVariable {
  (name: string): string | undefined
  /** One that may also be in a file, which `<name>_FILE` names. */
  secret(name: string): string | undefined
}

/**
 * Reads which providers people may sign in with. A provider is on when one of its variables is set;
 * then those that it needs must be set too. Secrets are not repeated in faults.
 *
 * @param faults a sentence is added for each that is wrong.
 */
export function readProviders(read: ReadVariable, faults: string[]): readonly ProviderConfig[] {
  return PROVIDER_NAMES.flatMap((name) => {
    const before = faults.length
    const provider = readProvider(name, read, faults)
    return provider === undefined || faults.length > before ? [] : [Object.freeze(provider)]
  })
}

function readProvider(
  name: ProviderConfig['name'],
  read: ReadVariable,
  faults: string[],
): ProviderConfig | undefined {
  const prefix = `GATEHOUSE_${name.toUpperCase()}_`
  const given = new Map(
    [...(SUFFIXES[name] ?? []), 'CLIENT_ID'].map((suffix) => [suffix, read(prefix + suffix)]),
  )
  const clientSecret = read.secret(`${prefix}CLIENT_SECRET`)
  if (clientSecret === undefined && [...given.values()].every((value) => value === undefined)) {
    return undefined
  }
  const needed = (suffix: string, value = given.get(suffix)): string => {
    if (value === undefined) faults.push(`${prefix}${suffix} is missing: ${name} needs it.`)
    return value ?? ''
  }
  const url = (suffix: string): string => {
    const value = needed(suffix)
    if (value !== '') checkUrl(prefix + suffix, value, faults)
    return value
  }
  const common = {
    name,
    label: given.get('LABEL') ?? LABELS[name],
    form: readForm(`${prefix}CALLBACK`, given.get('CALLBACK'), name, faults),
    clientId: needed('CLIENT_ID'),
    clientSecret: needed('CLIENT_SECRET', clientSecret),
  }
  if (name === 'oidc') return { ...common, kind: 'issuer', issuer: url('ISSUER') }
  if (name !== 'oauth2') {
    const { label: _, ...endpoints } = presets[name satisfies PresetName]
    return { ...common, kind: 'endpoints', refreshEndpoint: undefined, ...endpoints }
  }
  return {
    ...common,
    kind: 'endpoints',
    authEndpoint: url('AUTH_ENDPOINT'),
    tokenEndpoint: url('TOKEN_ENDPOINT'),
    refreshEndpoint: given.get('REFRESH_ENDPOINT') && url('REFRESH_ENDPOINT'),
    // The module works without it; but then nobody can tell who has signed in.
    activeUserEndpoint: url('ACTIVE_USER_ENDPOINT'),
  }
}

const LABELS: Readonly<Record<ProviderConfig['name'], string>> = {
  github: presets.github.label,
  google: presets.google.label,
  facebook: presets.facebook.label,
  oidc: 'Single sign-on',
  oauth2: 'OAuth 2.0',
}

/** What providers without a preset take beside `CLIENT_ID` and `CLIENT_SECRET`. */
const SUFFIXES: Readonly<Partial<Record<ProviderConfig['name'], readonly string[]>>> = {
  oidc: ['ISSUER', 'LABEL'],
  oauth2: [
    'AUTH_ENDPOINT',
    'TOKEN_ENDPOINT',
    'REFRESH_ENDPOINT',
    'ACTIVE_USER_ENDPOINT',
    'LABEL',
    'CALLBACK',
  ],
}

function readForm(
  from: string,
  given: string | undefined,
  name: ProviderConfig['name'],
  faults: string[],
): CallbackForm {
  const text = given ?? (name === 'oauth2' ? 'csrf-in-url' : 'exact')
  const form = CALLBACK_FORMS.find((each) => each === text)
  if (form === undefined) {
    faults.push(`${from} takes ${CALLBACK_FORMS.join(', ')}; it is ${JSON.stringify(given)}.`)
  }
  return form ?? 'exact'
}

/** Client secrets and tokens go there: only to this machine may they go unencrypted. */
function checkUrl(from: string, text: string, faults: string[]): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const loopback =
    url?.protocol === 'http:' && /^(?:localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname)
  const bare = url?.username === '' && url.password === '' && url.hash === ''
  if (url !== undefined && bare && (url.protocol === 'https:' || loopback)) return
  faults.push(
    `${from} takes an URL that begins with https:// (http:// for this machine alone), without ` +
      'credentials and fragment.',
  )
}

import {
  CALLBACK_FORMS,
  type CallbackForm,
  isProviderUrl,
  PROVIDER_KINDS,
  PROVIDER_LABELS,
  type ProviderKind,
} from '../../contract/access/provider.ts'
import type { OAuth2ClientOptions } from '../client.ts'
import { type GroupRoles, parseGroupRoles } from './group-roles.ts'

/** Settings that all applications of a provider share. */
interface Preset extends Pick<OAuth2ClientOptions, 'authEndpoint' | 'tokenEndpoint'> {
  /** The provider's name, as shown to people. */
  readonly label: string
  readonly activeUserEndpoint: string
}

/**
 * Settings of well-known providers, to spread into the options of `createOAuth2Client` together
 * with `clientId` and `clientSecret`. Each provider requires the application's callback URL to be
 * registered. All accept `client_secret_post` (the default) and either ignore or check PKCE.
 */
export const presets = {
  /**
   * The token endpoint responds form-encoded unless `Accept` requests JSON, and reports errors with
   * status 200. The user endpoint rejects requests without `User-Agent`. Its `id` is a number.
   * GitHub issues a refresh token only if the application's tokens expire.
   */
  github: {
    label: 'GitHub',
    authEndpoint: 'https://github.com/login/oauth/authorize?scope=user',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    activeUserEndpoint: 'https://api.github.com/user',
  },
  /**
   * Uses version 2 of the user endpoint, which names the person's identifier `id`. Version 3 and
   * OpenID Connect name the same value `sub`. With `access_type=offline`, Google issues a refresh
   * token, but only at the person's first consent; `prompt=consent` requests another one.
   */
  google: {
    label: 'Google',
    authEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&scope=profile',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    activeUserEndpoint: 'https://www.googleapis.com/oauth2/v2/userinfo',
  },
  /**
   * Without `scope`, Facebook grants `public_profile`, which includes `id` and `name`. `id` differs
   * for each application. `error` is an object. Each API version is available for at least two
   * years; calls to a retired version are served by the oldest available one. There is no refresh
   * token.
   */
  facebook: {
    label: 'Facebook',
    authEndpoint: 'https://www.facebook.com/v26.0/dialog/oauth',
    tokenEndpoint: 'https://graph.facebook.com/v26.0/oauth/access_token',
    activeUserEndpoint: 'https://graph.facebook.com/v26.0/me?fields=id,name',
  },
} as const satisfies Readonly<Record<string, Preset>>

/** Names of the presets, as in paths and settings. */
type PresetName = keyof typeof presets

interface Registration {
  /** As in paths and usernames. */
  readonly name: string
  /** Name shown to people. */
  readonly label: string
  readonly form: CallbackForm
  readonly clientId: string
  readonly clientSecret: string
}

/** A configured provider, defined by its issuer (OpenID Connect) or by its endpoints. */
export type ProviderConfig =
  | (Registration & {
      readonly kind: 'issuer'
      readonly issuer: string
      /** Undefined: groups assign no roles. */
      readonly groups?: GroupRoles | undefined
    })
  | (Registration & {
      readonly kind: 'endpoints'
      readonly authEndpoint: string
      readonly tokenEndpoint: string
      readonly activeUserEndpoint: string
    })

/** Returns the value of a variable, or undefined if it is not set. */
export interface ReadVariable {
  (name: string): string | undefined
  /** Returns a value that may also be in a file, which `<name>_FILE` names. */
  secret(name: string): string | undefined
}

/**
 * Reads the configured providers. A provider is enabled if any of its variables is set; its
 * required variables must then be set too. Errors don't repeat secrets.
 *
 * @param errors receives a sentence for each error.
 */
export function readProviders(read: ReadVariable, errors: string[]): readonly ProviderConfig[] {
  return PROVIDER_KINDS.flatMap((name) => {
    const before = errors.length
    const provider = readProvider(name, read, errors)
    return provider === undefined || errors.length > before ? [] : [Object.freeze(provider)]
  })
}

function readProvider(
  name: ProviderKind,
  read: ReadVariable,
  errors: string[],
): ProviderConfig | undefined {
  const prefix = `GATEHOUSE_${name.toUpperCase()}_`
  const variables = new Map(
    [...(SUFFIXES[name] ?? []), 'CLIENT_ID'].map((suffix) => [suffix, read(prefix + suffix)]),
  )
  const clientSecret = read.secret(`${prefix}CLIENT_SECRET`)
  if (clientSecret === undefined && [...variables.values()].every((value) => value === undefined)) {
    return undefined
  }
  const needed = (suffix: string, value = variables.get(suffix)): string => {
    if (value === undefined) errors.push(`${prefix}${suffix} is missing. ${name} requires it.`)
    return value ?? ''
  }
  const url = (suffix: string): string => {
    const value = needed(suffix)
    if (value !== '') checkUrl(prefix + suffix, value, errors)
    return value
  }
  const common = {
    name,
    label: variables.get('LABEL') ?? PROVIDER_LABELS[name],
    form: readForm(`${prefix}CALLBACK`, variables.get('CALLBACK'), name, errors),
    clientId: needed('CLIENT_ID'),
    clientSecret: needed('CLIENT_SECRET', clientSecret),
  }
  if (name === 'oidc') {
    const groups = parseGroupRoles(variables.get('ROLE_CLAIM'), variables.get('ROLES'), errors)
    return { ...common, kind: 'issuer', issuer: url('ISSUER'), groups }
  }
  if (name !== 'oauth2') {
    const { label: _, ...endpoints } = presets[name satisfies PresetName]
    return { ...common, kind: 'endpoints', ...endpoints }
  }
  return {
    ...common,
    kind: 'endpoints',
    authEndpoint: url('AUTH_ENDPOINT'),
    tokenEndpoint: url('TOKEN_ENDPOINT'),
    // The OAuth 2.0 client works without it, but the server could not identify the person.
    activeUserEndpoint: url('ACTIVE_USER_ENDPOINT'),
  }
}

/** Variables of providers without a preset, besides `CLIENT_ID` and `CLIENT_SECRET`. */
const SUFFIXES: Readonly<Partial<Record<ProviderKind, readonly string[]>>> = {
  oidc: ['ISSUER', 'LABEL', 'ROLE_CLAIM', 'ROLES'],
  oauth2: ['AUTH_ENDPOINT', 'TOKEN_ENDPOINT', 'ACTIVE_USER_ENDPOINT', 'LABEL', 'CALLBACK'],
}

function readForm(
  from: string,
  given: string | undefined,
  name: ProviderKind,
  errors: string[],
): CallbackForm {
  const text = given ?? (name === 'oauth2' ? 'csrf-in-url' : 'exact')
  const form = CALLBACK_FORMS.find((each) => each === text)
  if (form === undefined) {
    errors.push(
      `${from} must be one of ${CALLBACK_FORMS.join(', ')}, not ${JSON.stringify(given)}.`,
    )
  }
  return form ?? 'exact'
}

/** Checks a URL with {@link isProviderUrl}. */
function checkUrl(from: string, text: string, errors: string[]): void {
  if (isProviderUrl(text)) return
  errors.push(
    `${from} must be a URL that begins with https:// (http:// for this machine only), without ` +
      'credentials or a fragment.',
  )
}

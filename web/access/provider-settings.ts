import type { ProviderSetupList } from '../../server/contract/access/session.ts'

/** A provider that the server supports. */
export interface SupportedProvider {
  /** Name in URL paths. */
  readonly name: string
  readonly label: string
  /** Required variables besides `CLIENT_ID` and `CLIENT_SECRET`, with example values. */
  readonly settings: Readonly<Record<string, string>>
}

const providers: readonly SupportedProvider[] = [
  { name: 'github', label: 'GitHub', settings: {} },
  { name: 'google', label: 'Google', settings: {} },
  { name: 'facebook', label: 'Facebook', settings: {} },
  {
    name: 'oidc',
    label: 'Any OpenID Connect provider',
    settings: { ISSUER: 'https://login.example.com', LABEL: "'Example'" },
  },
  {
    name: 'oauth2',
    label: 'Any other OAuth 2.0 provider',
    settings: {
      AUTH_ENDPOINT: 'https://login.example.com/authorize',
      TOKEN_ENDPOINT: 'https://login.example.com/token',
      ACTIVE_USER_ENDPOINT: 'https://login.example.com/me',
      LABEL: "'Example'",
    },
  },
]

/** Returns the supported providers that are not configured. */
export const unconfiguredProviders = (setup: ProviderSetupList): readonly SupportedProvider[] =>
  providers.filter(({ name }) => setup.every((each) => each.name !== name))

/** Returns the environment variables of a provider, one per line. */
export function settingsOf({ name, settings }: SupportedProvider): string {
  const all = { ...settings, CLIENT_ID: '…', CLIENT_SECRET: '…' }
  return Object.entries(all)
    .map(([key, value]) => `GATEHOUSE_${name.toUpperCase()}_${key}=${value}`)
    .join('\n')
}

/**
 * Returns the callback URL of an unconfigured provider, derived from a configured one. Undefined if
 * no configured provider has a callback URL.
 */
export function callbackFor(name: string, setup: ProviderSetupList): string | undefined {
  for (const each of setup) {
    const end = `/_oauth2/${each.name}/auth`
    if (each.callback?.endsWith(end)) {
      return `${each.callback.slice(0, -end.length)}/_oauth2/${name}/auth`
    }
  }
  return undefined
}

import type { ProviderSetupList } from '../../server/contract/session.ts'

/** A provider that can be configured. */
export interface KnownProvider {
  /** As it stands in paths. */
  readonly name: string
  readonly label: string
  /** What it takes beside `CLIENT_ID` and `CLIENT_SECRET`, each with an example. */
  readonly settings: Readonly<Record<string, string>>
}

const known: readonly KnownProvider[] = [
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

/** The providers that are not configured. */
export const unconfigured = (setup: ProviderSetupList): readonly KnownProvider[] =>
  known.filter(({ name }) => setup.every((each) => each.name !== name))

/** The variables of a provider, one on each line. */
export function settingsOf({ name, settings }: KnownProvider): string {
  const all = { ...settings, CLIENT_ID: '…', CLIENT_SECRET: '…' }
  return Object.entries(all)
    .map(([key, value]) => `GATEHOUSE_${name.toUpperCase()}_${key}=${value}`)
    .join('\n')
}

/** The callback URL of a provider that is not configured yet, from that of one that is. */
export function callbackFor(name: string, setup: ProviderSetupList): string | undefined {
  for (const each of setup) {
    const end = `/_oauth2/${each.name}/auth`
    if (each.callback?.endsWith(end)) {
      return `${each.callback.slice(0, -end.length)}/_oauth2/${name}/auth`
    }
  }
  return undefined
}

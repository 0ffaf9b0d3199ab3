import { useQuery } from '@tanstack/react-query'
import {
  LOCAL_PROVIDER,
  LOCAL_PROVIDER_LABEL,
  OPERATOR,
} from '../../server/contract/access/principal.ts'
import type { ProviderSetupList } from '../../server/contract/access/provider.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { Section } from '../ui/layout/section.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { CopyLine } from '../ui/text/copy-line.tsx'
import classes from './providers-page.module.css'
import { providersQuery } from './queries.ts'

/**
 * The Providers page: configured providers with their callback URLs, and settings for the others.
 */
export function ProvidersPage() {
  usePageTitle('Providers', 'Access')
  return (
    <QueryResult query={useQuery(providersQuery)} what="the providers">
      {(providers) => (
        <>
          {providers.some(({ callback }) => callback === null) && <PublicUrlMissing />}
          <Configured providers={providers} />
          <More providers={providers} />
        </>
      )}
    </QueryResult>
  )
}

function PublicUrlMissing() {
  return (
    <p className={`warning ${classes.missing}`}>
      <strong>Set --public-url.</strong> Providers need a public URL to send people back to this
      server. Set <code className="mono">GATEHOUSE_PUBLIC_URL</code> to the URL at which people open
      Gatehouse, such as <code className="mono">https://gatehouse.example.com</code>, and restart
      Gatehouse.
    </p>
  )
}

function Configured({ providers }: { providers: ProviderSetupList }) {
  const others = providers.filter(({ name }) => name !== LOCAL_PROVIDER)
  return (
    <Section title="In use" count={providers.length}>
      <ul className={classes.list}>
        {others.map(({ name, label, callback }) => (
          <li key={name} className={classes.provider}>
            <h3 className={classes.name}>{label}</h3>
            {callback === null ? (
              <p className="dim">Set --public-url to see its callback URL.</p>
            ) : (
              <CopyLine label="Callback URL to register with the provider" text={callback} />
            )}
          </li>
        ))}
        {providers.length > others.length && (
          <li className={classes.provider}>
            <h3 className={classes.name}>{LOCAL_PROVIDER_LABEL}</h3>
            <p className="dim">
              Always available, even when other providers are not. The holder of the key signs in as{' '}
              <span className="mono">{OPERATOR.username}</span>, an admin.{' '}
              <code className={`mono ${classes.command}`}>gatehouse operator-key</code> prints it,
              and with <code className={`mono ${classes.command}`}>--renew</code> replaces it.
            </p>
          </li>
        )}
      </ul>
      {others.length === 0 && (
        <Notice>
          No other provider is configured, so everyone signs in with the operator key as the same
          person. Add a provider below so that people sign in with their own accounts.
        </Notice>
      )}
    </Section>
  )
}

function More({ providers }: { providers: ProviderSetupList }) {
  const left = unconfiguredProviders(providers)
  if (left.length === 0) return null
  return (
    <Section
      title="Add a provider"
      note="Register Gatehouse with the provider, using the callback URL. Then set these variables in the environment of Gatehouse, and restart it. To read a secret from a file, append _FILE to the variable name and set it to the path."
    >
      <ul className={classes.list}>
        {left.map((provider) => {
          const callback = callbackFor(provider.name, providers)
          return (
            <li key={provider.name}>
              <details className={classes.more}>
                <summary>{provider.label}</summary>
                <div className={classes.provider}>
                  {callback !== undefined && (
                    <CopyLine label="Callback URL to register with the provider" text={callback} />
                  )}
                  <CopyLine
                    label="Environment variables"
                    text={settingsOf(provider)}
                    name={`the settings for ${provider.label}`}
                  />
                </div>
              </details>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

/** A provider that the server supports. */
interface SupportedProvider {
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

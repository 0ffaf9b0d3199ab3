import { useQuery } from '@tanstack/react-query'
import type { ProviderSetupList } from '../../server/contract/session.ts'
import { CopyLine } from '../ui/copy-line.tsx'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'
import { Section } from '../ui/section.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { callbackFor, settingsOf, unconfigured } from './provider-settings.ts'
import classes from './providers-page.module.css'
import { providersQuery } from './queries.ts'

/** With whom people sign in, the URL to register there, and what to set for another provider. */
export function ProvidersPage() {
  usePageTitle('Providers', 'Access')
  const { data: providers, error, refetch } = useQuery(providersQuery)
  if (providers === undefined) {
    return error === null ? (
      <SkeletonRows what="the providers" />
    ) : (
      <LoadFailure what="The providers" error={error} onRetry={refetch} />
    )
  }
  return (
    <>
      {providers.some(({ callback }) => callback === null) && <PublicUrlMissing />}
      <Configured providers={providers} />
      <More providers={providers} />
    </>
  )
}

function PublicUrlMissing() {
  return (
    <p className={classes.missing}>
      <strong>--public-url is missing.</strong> Gatehouse does not know under which URL people reach
      it from other machines, so no provider can send them back. Set{' '}
      <code className="mono">GATEHOUSE_PUBLIC_URL</code> to that URL, such as{' '}
      <code className="mono">https://gatehouse.example.com</code>, and start it again.
    </p>
  )
}

function Configured({ providers }: { providers: ProviderSetupList }) {
  const others = providers.filter(({ name }) => name !== 'local')
  return (
    <Section title="In use" count={providers.length}>
      <ul className={classes.list}>
        {others.map(({ name, label, callback }) => (
          <li key={name} className={classes.provider}>
            <h3 className={classes.name}>{label}</h3>
            {callback === null ? (
              <p className="dim">Its callback URL is not known yet: see above.</p>
            ) : (
              <CopyLine label="Callback URL to register there" text={callback} />
            )}
          </li>
        ))}
        {providers.length > others.length && (
          <li className={classes.provider}>
            <h3 className={classes.name}>Operator key</h3>
            <p className="dim">
              Always there, for the day the others are not. Whoever holds the key signs in as
              local:operator, an admin.{' '}
              <code className={`mono ${classes.command}`}>gatehouse operator-key</code> prints it,
              and with <code className={`mono ${classes.command}`}>--renew</code> makes another.
            </p>
          </li>
        )}
      </ul>
      {others.length === 0 && (
        <Notice>
          No other provider is configured: everybody who comes in needs the operator key, and is the
          same person. Add one below, so that people come as themselves.
        </Notice>
      )}
    </Section>
  )
}

function More({ providers }: { providers: ProviderSetupList }) {
  const left = unconfigured(providers)
  if (left.length === 0) return null
  return (
    <Section
      title="Add a provider"
      note="Register Gatehouse there with the callback URL, set these variables in its environment, and start it again. Each secret can also be in a file, named by the variable with _FILE at its end."
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
                    <CopyLine label="Callback URL to register there" text={callback} />
                  )}
                  <CopyLine
                    label="To set in the environment"
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

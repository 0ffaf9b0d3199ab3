import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import {
  LOCAL_PROVIDER,
  LOCAL_PROVIDER_LABEL,
  OPERATOR,
} from '../../../server/contract/access/principal.ts'
import type { ProviderSetup, ProviderSetupList } from '../../../server/contract/access/provider.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { providersQuery } from '../queries.ts'
import { useAccessLocation } from '../use-access-location.ts'
import { useRemoveProvider, useTestProvider } from './provider-requests.ts'
import { ProviderTestDialog } from './provider-test-dialog.tsx'
import classes from './providers-page.module.css'

const ProviderDialog = lazy(async () => ({
  default: (await import('./provider-dialog.tsx')).ProviderDialog,
}))

/** The Providers page: the providers with their callback URLs. Those managed here can be changed. */
export function ProvidersPage() {
  usePageTitle('Providers', 'Access')
  return (
    <QueryResult query={useQuery(providersQuery)} what="the providers">
      {(providers) => (
        <>
          {providers.some(({ callback }) => callback === null) && <PublicUrlMissing />}
          <Configured providers={providers} />
          <ProviderDialogs providers={providers} />
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
  const { open } = useAccessLocation()
  const others = providers.filter(({ name }) => name !== LOCAL_PROVIDER)
  return (
    <Section
      title="Providers"
      count={providers.length}
      note="People sign in with an account that they have. New people wait for a role, unless they are invited."
      action={<AddButton onClick={() => open({ add: 'yes' })}>Add provider</AddButton>}
    >
      <ul className={classes.list}>
        {others.map((provider) => (
          <ProviderItem key={provider.name} provider={provider} />
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
          Everyone signs in with the operator key as the same person. Add a provider so that people
          sign in with their own accounts.
        </Notice>
      )}
    </Section>
  )
}

/** A provider with its callback URL and actions. Those of the environment can only be tested. */
function ProviderItem({ provider }: { provider: ProviderSetup }) {
  const { name, label, callback, source, settings } = provider
  const { open } = useAccessLocation()
  const test = useStartTest(provider)
  const isManaged = source === 'managed'
  const at = settings?.issuer ?? settings?.tokenEndpoint
  return (
    <li className={classes.provider}>
      <div className={classes.head}>
        <h3 className={classes.name}>
          {label} <span className="mono meta dim">{name}</span>
        </h3>
        <div className={classes.actions}>
          <Button
            variant="default"
            aria-label={`Test sign-in with ${label}`}
            aria-disabled={test.isPending || undefined}
            onClick={test.run}
          >
            Test sign-in
          </Button>
          {isManaged && (
            <>
              <Button
                variant="default"
                aria-label={`Edit ${label}`}
                onClick={() => open({ edit: name })}
              >
                Edit
              </Button>
              <Button
                variant="default"
                aria-label={`Remove ${label}`}
                onClick={() => open({ remove: name })}
              >
                Remove
              </Button>
            </>
          )}
        </div>
      </div>
      <p className="dim">
        {isManaged ? (
          <>
            Managed here{at !== undefined && ', at '}
            <span className="mono">{at}</span>
          </>
        ) : (
          'From the environment of the server, so read-only here. To change it, set its variables and restart.'
        )}
      </p>
      {callback === null ? (
        <p className="dim">Set --public-url to see its callback URL.</p>
      ) : (
        <CopyLine label="Callback URL to register with the provider" text={callback} />
      )}
      <p role="alert" className={classes.error}>
        {test.error}
      </p>
    </li>
  )
}

/** Starts a test of a provider in another tab. */
function useStartTest(provider: ProviderSetup) {
  const { open } = useAccessLocation()
  const test = useTestProvider()
  const run = () => {
    // Browsers block a tab that is opened after the response. The dialog then has a link.
    const tab = window.open('about:blank', '_blank')
    test.mutate(provider, {
      onSuccess: ({ id, url }) => {
        open({ test: provider.name, id })
        if (tab !== null) tab.location.href = url
      },
      onError: () => tab?.close(),
    })
  }
  return { run, isPending: test.isPending, error: test.error?.message }
}

/** The dialog that the URL names. */
function ProviderDialogs({ providers }: { providers: ProviderSetupList }) {
  const { search, close } = useAccessLocation()
  const named = search.edit ?? search.remove ?? search.test
  const provider = providers.find(({ name }) => name === named)
  if (search.add !== undefined || (search.edit !== undefined && provider?.settings)) {
    return (
      <LazyBoundary>
        <ProviderDialog key={named} providers={providers} provider={provider} />
      </LazyBoundary>
    )
  }
  if (named === undefined) return null
  if (provider === undefined || search.edit !== undefined) {
    return (
      <UnavailableDialog title="Provider not found" onClose={close}>
        It was removed, never existed, or is not managed here.
      </UnavailableDialog>
    )
  }
  if (search.remove !== undefined) return <RemoveDialog key={named} provider={provider} />
  return <TestDialog provider={provider} id={search.id ?? ''} />
}

function TestDialog({ provider, id }: { provider: ProviderSetup; id: string }) {
  const { run } = useStartTest(provider)
  return <ProviderTestDialog key={id} provider={provider} id={id} onAgain={run} />
}

function RemoveDialog({ provider }: { provider: ProviderSetup }) {
  const { close } = useAccessLocation()
  const remove = useRemoveProvider()
  return (
    <ConfirmDialog
      title={`Remove ${provider.label}?`}
      keep="Keep it"
      error={remove.error?.message ?? ''}
      confirm={{
        label: 'Remove provider',
        busy: remove.isPending,
        run: () => remove.mutate(provider, { onSuccess: close }),
      }}
      onClose={close}
    >
      <p>
        People can no longer sign in with it, and its open invitations are deleted. Sessions and
        tokens of these people stay valid: end them on the People page.
      </p>
    </ConfirmDialog>
  )
}

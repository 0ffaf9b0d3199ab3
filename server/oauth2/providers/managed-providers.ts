import type { Logger } from 'pino'
import * as z from 'zod/mini'
import {
  type CallbackForm,
  MANAGED_PROVIDERS,
  PROVIDER_LABELS,
  type ProviderInput,
  type ProviderSettings,
  providerSettings,
} from '../../contract/access/provider.ts'
import { type Conditions, matches } from '../../contract/conditions.ts'
import type { LiveEvent } from '../../contract/event.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import { beginChange, type Caller, requireUnlimited } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Change } from '../../storage/changes/transactions.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'
import type { Vault } from '../../storage/vault.ts'
import { createEndpointProvider } from './endpoint-provider.ts'
import { createIssuerProvider } from './issuer-provider.ts'
import type { Provider, ProviderDeps } from './provider.ts'
import { type ProviderConfig, presets } from './provider-config.ts'

/** Creates the provider of a configuration. It sends no request before the first sign-in. */
export const createProvider = (config: ProviderConfig, deps: ProviderDeps): Provider =>
  config.kind === 'issuer' ? createIssuerProvider(config, deps) : createEndpointProvider(config)

/** A provider with where it comes from. */
export interface ListedProvider {
  readonly provider: Provider
  readonly source: 'environment' | 'managed' | 'built-in'
  /** 0 unless it is managed. */
  readonly revision: number
  readonly settings?: ProviderSettings
}

/** A change of a managed provider. */
export interface ProviderChange {
  readonly name: string
  readonly actor: Caller
  /** Tags of revisions that it may have. Default: any. */
  readonly match?: Conditions['match']
}

export interface ManagedProvidersDeps {
  readonly store: Store
  readonly vault: Vault
  readonly record: Recorder
  readonly publish: (event: LiveEvent) => void
  /** The providers of the environment, in the order of their buttons. */
  readonly configured: readonly Provider[]
  readonly local: Provider
  readonly log: Pick<Logger, 'error'>
  /** Returns the time, ms since 1970. */
  readonly now: () => number
}

export type ManagedProviders = ReturnType<typeof createManagedProviders>

/** Creates the providers of this node: those of the environment, managed ones, and the local one. */
export function createManagedProviders(deps: ManagedProvidersDeps) {
  const { store, vault, record, configured, local, now } = deps
  let managed = new Map<string, ListedProvider>()

  async function readChanges(): Promise<void> {
    const rows = await store.db.selectFrom('providers').selectAll().orderBy('name').execute()
    const next = new Map<string, ListedProvider>()
    for (const { name, revision, settings: text, secret } of rows) {
      const before = managed.get(name)
      if (before?.revision === revision) {
        next.set(name, before)
        continue
      }
      try {
        const settings = parseJsonColumn(providerSettings, 'providers.settings', text)
        const clientSecret = vault.decrypt(secret, contextOf(name))
        const provider = createProvider(configOf(name, settings, clientSecret), { now })
        next.set(name, {
          provider: { ...provider, revision },
          ...{ source: 'managed', revision, settings },
        })
      } catch (err) {
        // Another program has changed the row. The others must go on.
        deps.log.error({ err, provider: name }, 'cannot read a provider')
      }
    }
    const tags = (all: typeof managed) => [...all].map(([name, { revision }]) => name + revision)
    const isChanged = tags(next).join() !== tags(managed).join()
    managed = next
    if (isChanged) deps.publish({ type: 'provider' })
  }

  // One after the other: an older read must not replace a newer one.
  let syncing: Promise<void> = Promise.resolve()
  const sync = (): Promise<void> => {
    syncing = syncing.catch(() => {}).then(readChanges)
    return syncing
  }

  function list(): ListedProvider[] {
    const own = configured.map((provider) => ({
      ...{ provider, source: 'environment' as const, revision: 0 },
    }))
    const names = new Set(configured.map(({ name }) => name))
    const others = [...managed.values()].filter(({ provider }) => !names.has(provider.name))
    return [...own, ...others, { provider: local, source: 'built-in', revision: 0 }]
  }

  function requireManaged(name: string): void {
    if (name === local.name) {
      throw new Failure('conflict', 'The operator key is built in and cannot be changed here.')
    }
    if (!configured.some((each) => each.name === name)) return
    throw new Failure(
      'conflict',
      `The provider ${name} comes from the environment of this server, so it is read-only here. Change its variables and restart the server.`,
      { field: '/name' },
    )
  }

  /** Checks a change in its transaction, and returns the stored provider and the new revision. */
  async function begin(trx: Change, { name, actor, match }: ProviderChange) {
    const revision = await beginChange(trx, actor)
    // A provider identifies people: whoever changes it can sign in as any of them.
    requireUnlimited(actor, 'change providers')
    requireManaged(name)
    const row = await trx
      .selectFrom('providers')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst()
    if (row !== undefined && !matches({ match }, String(row.revision))) {
      throw new Failure(
        'precondition-failed',
        'The provider has been changed since you loaded it. Reload it and try again.',
      )
    }
    const before = row && {
      secret: row.secret,
      settings: parseJsonColumn(providerSettings, 'providers.settings', row.settings),
    }
    return { revision, before }
  }

  /** Writes the settings and the secret, which an edit may keep. */
  async function write(
    trx: Change,
    { name, actor }: ProviderChange,
    { clientSecret, ...input }: ProviderInput,
    { revision, before }: Awaited<ReturnType<typeof begin>>,
  ): Promise<void> {
    const settings = toSettings(input)
    if (clientSecret === undefined && !(before && isSameServer(before.settings, settings))) {
      throw new Failure(
        'bad-parameter',
        before === undefined
          ? 'The client secret is missing.'
          : 'Enter the client secret again: it is kept only if the provider and its endpoints stay the same.',
        { field: '/clientSecret' },
      )
    }
    const secret = clientSecret && vault.encrypt(clientSecret, contextOf(name))
    const values = { revision, settings: JSON.stringify(settings) }
    if (before === undefined) {
      invariant(secret, 'a new provider has a secret')
      await trx
        .insertInto('providers')
        .values({ name, ...values, secret })
        .execute()
    } else {
      await trx
        .updateTable('providers')
        .set({ ...values, ...(secret && { secret }) })
        .where('name', '=', name)
        .execute()
    }
    await record(trx, {
      actor,
      action: before === undefined ? 'provider.add' : 'provider.change',
      target: name,
      outcome: 'done',
      before: before?.settings ?? null,
      after: { ...settings, ...(before && secret && { secretReplaced: true }) },
    })
  }

  return {
    /** Reads the providers that another node has changed. Call it at startup, too. */
    sync,
    /** Returns the providers in the order of the sign-in buttons. */
    list,
    find: (name: string) => list().find(({ provider }) => provider.name === name),
    /** @throws Failure `conflict` if the name is taken, or there are too many; `bad-parameter`. */
    async add(input: ProviderInput, change: ProviderChange): Promise<void> {
      await store.change(async (trx) => {
        const begun = await begin(trx, change)
        if (begun.before !== undefined) {
          throw new Failure('conflict', `There is a provider ${change.name}.`, { field: '/name' })
        }
        const { count } = await trx
          .selectFrom('providers')
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
        if (Number(count) >= MANAGED_PROVIDERS) {
          throw new Failure(
            'conflict',
            `There are ${MANAGED_PROVIDERS} providers, the maximum. Remove one first.`,
          )
        }
        await write(trx, change, input, begun)
      })
      await sync()
    },
    /** @throws Failure `not-found`, `conflict`, `precondition-failed`, `bad-parameter` */
    async change(input: ProviderInput, change: ProviderChange): Promise<void> {
      await store.change(async (trx) => {
        const begun = await begin(trx, change)
        if (begun.before === undefined) throw noProvider()
        await write(trx, change, input, begun)
      })
      await sync()
    },
    /** Removes a provider and its invitations. @throws as {@link change} */
    async remove(change: ProviderChange): Promise<void> {
      const { name, actor } = change
      await store.change(async (trx) => {
        const { before } = await begin(trx, change)
        if (before === undefined) throw noProvider()
        await trx.deleteFrom('providers').where('name', '=', name).execute()
        await trx.deleteFrom('invitations').where('provider', '=', name).execute()
        await record(trx, {
          ...{ actor, action: 'provider.remove', target: name, outcome: 'done' },
          ...{ before: before.settings, after: null },
        })
      })
      await sync()
    },
  }
}

export const noProvider = () => new Failure('not-found', 'There is no such provider.')

const contextOf = (name: string) => `providers/${name}/secret`

/** Returns what is stored of an input: its label and callback form may be defaults. */
function toSettings(input: Omit<ProviderInput, 'clientSecret'>): ProviderSettings {
  const { kind } = input
  const { label = PROVIDER_LABELS[kind], ...rest } = input as typeof input & { label?: string }
  return z.parse(providerSettings, {
    ...rest,
    label,
    ...(kind === 'oauth2' && { callback: formOf(input as ProviderSettings) }),
  })
}

const formOf = ({ kind, callback }: Pick<ProviderSettings, 'kind' | 'callback'>): CallbackForm =>
  callback ?? (kind === 'oauth2' ? 'csrf-in-url' : 'exact')

/**
 * Whether a secret is sent to the same URLs. Otherwise an edit could send a secret that the editor
 * does not know to a server of theirs.
 */
const isSameServer = (a: ProviderSettings, b: ProviderSettings): boolean =>
  (['kind', 'issuer', 'authEndpoint', 'tokenEndpoint', 'activeUserEndpoint'] as const).every(
    (key) => a[key] === b[key],
  )

function configOf(name: string, settings: ProviderSettings, clientSecret: string): ProviderConfig {
  const { kind, label, clientId, issuer = '' } = settings
  const common = { name, label, clientId, clientSecret, form: formOf(settings) }
  if (kind === 'oidc') return { ...common, kind: 'issuer', issuer }
  if (kind !== 'oauth2') return { ...presets[kind], ...common, kind: 'endpoints' }
  const { authEndpoint = '', tokenEndpoint = '', activeUserEndpoint = '' } = settings
  return { ...common, kind: 'endpoints', authEndpoint, tokenEndpoint, activeUserEndpoint }
}

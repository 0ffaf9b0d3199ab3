import type { Logger } from 'pino'
import type { AccessModule } from '../access/module.ts'
import type { AuditModule } from '../audit/module.ts'
import { LOCAL_PROVIDER_LABEL, OPERATOR } from '../contract/access/principal.ts'
import type { EventHub } from '../events/hub.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { HttpModule } from '../http/module.ts'
import { findPageFonts } from '../http/output/page-fonts.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { createFailedSignIns } from './failed-sign-ins.ts'
import type { LocalProvider, LocalProviderDeps } from './local/local-provider.ts'
import { localProviderRoutes } from './local/local-provider-routes.ts'
import { invitationRoutes, providerRoutes } from './provider-routes.ts'
import { createManagedProviders, createProvider } from './providers/managed-providers.ts'
import type { ProviderConfig } from './providers/provider-config.ts'
import { oauth2Routes } from './routes.ts'
import { createPendingSignIns } from './sign-in/pending-sign-in.ts'
import { createProviderTests } from './sign-in/provider-tests.ts'
import { callbackPath } from './sign-in/sign-in.ts'
import { createSignInLimit } from './sign-in/sign-in-limit.ts'

export interface OAuth2ModuleDeps
  extends Pick<
    LocalProviderDeps,
    'store' | 'vault' | 'secretKey' | 'operatorKey' | 'fingerprint' | 'countFailure'
  > {
  /** Sign-in providers besides the local one, in button order. */
  readonly providers: readonly ProviderConfig[]
  readonly access: Pick<
    AccessModule,
    'beginSession' | 'sessionPerson' | 'requireRole' | 'invitations'
  >
  readonly record: Recorder
  readonly audit: Pick<AuditModule, 'recordRejection'>
  readonly events: Pick<EventHub, 'publish'>
  readonly http: Pick<HttpModule, 'clientOf' | 'publicOrigin' | 'sendList'>
  /** Called with the Node response to an error that a provider reported. */
  readonly countProviderError: (response: unknown) => void
  /** The folder of the built console, whose fonts the pages use. */
  readonly consoleFolder: string
  readonly log: Logger
  readonly logError: ErrorLog
}

/** Creates the providers, the sign-in flow and their routes. */
export function createOAuth2Module(deps: OAuth2ModuleDeps) {
  const { store, vault, record, access, audit, log } = deps
  const { clientOf, publicOrigin } = deps.http
  const local = lazyLocalProvider({
    store,
    vault,
    secretKey: deps.secretKey,
    operatorKey: deps.operatorKey,
    fingerprint: deps.fingerprint,
    publicOrigin,
    countFailure: deps.countFailure,
    now: Date.now,
    onError: (err) => log.error({ err }, 'the local provider failed'),
  })
  const { publish } = deps.events
  const now = Date.now
  const external = deps.providers.map((config) => createProvider(config, { now }))
  const providers = createManagedProviders({
    ...{ store, vault, record, publish, log, now },
    configured: external,
    local: local.provider,
  })
  const tests = createProviderTests({ store, record, now })
  const limit = createSignInLimit(Date.now)
  const failed = createFailedSignIns({
    record: audit.recordRejection,
    now: Date.now,
    onRecorded: () => deps.events.publish({ type: 'audit' }),
    onError: deps.logError('cannot write a failed sign-in to the audit log'),
  })
  const routesDeps = {
    ...{ providers, tests, clientOf, publicOrigin, publish },
    invitations: access.invitations,
    requireRole: access.requireRole,
    sendList: deps.http.sendList,
  }
  return {
    routes: oauth2Routes({
      findProvider: (name) => providers.find(name)?.provider,
      pending: createPendingSignIns(store, vault, now),
      tests,
      invitations: access.invitations,
      beginSession: access.beginSession,
      sessionPerson: access.sessionPerson,
      limit,
      recordFailed: failed.record,
      countProviderError: deps.countProviderError,
      clientOf,
      publicOrigin,
      fonts: findPageFonts(deps.consoleFolder),
      log,
    }),
    localRoutes: localProviderRoutes({
      local,
      limit,
      clientOf,
      publicOrigin,
      recordFailed: failed.record,
    }),
    providerRoutes: providerRoutes(routesDeps),
    invitationRoutes: invitationRoutes(routesDeps),
    /** Reads the managed providers that another node has changed. Call it at startup, too. */
    sync: providers.sync,
    /** Logs the callback URL to register at each provider. */
    announce(): void {
      for (const { name } of external) {
        const callback = (publicOrigin ?? 'http://127.0.0.1:<port>') + callbackPath(name)
        log.info({ provider: name, callback }, 'register this callback URL with the provider')
      }
      if (external.length > 0 && publicOrigin === undefined) {
        log.warn('without --public-url, people can sign in on this machine only')
      }
    },
    [Symbol.asyncDispose]: () => failed[Symbol.asyncDispose](),
  }
}

export type OAuth2Module = ReturnType<typeof createOAuth2Module>

/**
 * Returns the local provider, which is loaded at the first sign-in with the operator key:
 * `oidc-provider` takes a fifth of the memory of an idle node.
 */
function lazyLocalProvider(deps: LocalProviderDeps): LocalProvider {
  let loaded: Promise<LocalProvider> | undefined
  const load = (): Promise<LocalProvider> => {
    loaded ??= import('./local/local-provider.ts').then(
      ({ createLocalProvider }) => createLocalProvider(deps),
      (error: unknown) => {
        // Loading can fail for a moment, such as when no file descriptor is free.
        loaded = undefined
        throw error
      },
    )
    return loaded
  }
  return {
    provider: {
      name: OPERATOR.provider,
      label: LOCAL_PROVIDER_LABEL,
      form: 'exact',
      authorize: async (request) => (await load()).provider.authorize(request),
      complete: async (response) => (await load()).provider.complete(response),
    },
    page: async (request) => (await load()).page(request),
    submitKey: async (uid, cookie, key) => (await load()).submitKey(uid, cookie, key),
  }
}

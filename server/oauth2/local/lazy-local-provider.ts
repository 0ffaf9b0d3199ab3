import { LOCAL_PROVIDER_LABEL, OPERATOR } from '../../contract/access/operator.ts'
import type { LocalProvider, LocalProviderDeps } from './local-provider.ts'

/**
 * Returns the local provider, which is loaded at the first sign-in with the operator key:
 * `oidc-provider` takes a fifth of the memory of an idle node.
 */
export function lazyLocalProvider(deps: LocalProviderDeps): LocalProvider {
  let loaded: Promise<LocalProvider> | undefined
  const load = (): Promise<LocalProvider> => {
    loaded ??= import('./local-provider.ts').then(
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

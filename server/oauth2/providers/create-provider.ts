import { createEndpointProvider } from './endpoint-provider.ts'
import { createIssuerProvider } from './issuer-provider.ts'
import type { Provider, ProviderDeps } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'

/** Creates the provider of a configuration. It sends no request before the first sign-in. */
export const createProvider = (config: ProviderConfig, deps: ProviderDeps): Provider =>
  config.kind === 'issuer' ? createIssuerProvider(config, deps) : createEndpointProvider(config)

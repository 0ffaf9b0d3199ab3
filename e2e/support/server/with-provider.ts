import { startTestProvider } from '../../../server/oauth2/providers/provider.testing.ts'
import type { GatehouseProcess } from './gatehouse.ts'

/**
 * Starts an independent provider that signs everybody in as Ada, and restarts Gatehouse as its
 * client.
 */
export async function withProvider(
  gatehouse: GatehouseProcess,
  settings: Readonly<Record<string, string>> = {},
  options?: Parameters<typeof startTestProvider>[1],
) {
  const client = { client_id: 'gatehouse', client_secret: 'only-for-this-journey-0123456789' }
  const provider = await startTestProvider(
    [{ ...client, redirect_uris: [`${gatehouse.url}/_oauth2/oidc/auth`] }],
    options,
  )
  await gatehouse.restart({
    GATEHOUSE_OIDC_ISSUER: provider.issuer,
    GATEHOUSE_OIDC_CLIENT_ID: client.client_id,
    GATEHOUSE_OIDC_CLIENT_SECRET: client.client_secret,
    GATEHOUSE_OIDC_LABEL: 'Example ID',
    ...settings,
  })
  return provider
}

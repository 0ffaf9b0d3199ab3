import type { FormErrors } from '@mantine/form'
import * as z from 'zod/mini'
import {
  type CallbackForm,
  isProviderUrl,
  type ProviderInput,
  type ProviderKind,
  type ProviderSetup,
  providerName,
} from '../../../server/contract/access/provider.ts'
import { toFormErrors } from '../../shared/forms/to-form-errors.ts'

/** The form of a provider as typed. Fields that the kind does not have are ignored. */
export interface ProviderDraft {
  readonly kind: ProviderKind
  readonly name: string
  readonly label: string
  readonly issuer: string
  readonly authEndpoint: string
  readonly tokenEndpoint: string
  readonly activeUserEndpoint: string
  readonly callback: CallbackForm
  readonly clientId: string
  readonly clientSecret: string
}

/** Returns the form of a new provider, or of one to edit. */
export const providerDraft = (edited?: ProviderSetup): ProviderDraft => ({
  kind: edited?.settings?.kind ?? 'oidc',
  name: edited?.name ?? 'oidc',
  label: edited?.label ?? '',
  issuer: edited?.settings?.issuer ?? '',
  authEndpoint: edited?.settings?.authEndpoint ?? '',
  tokenEndpoint: edited?.settings?.tokenEndpoint ?? '',
  activeUserEndpoint: edited?.settings?.activeUserEndpoint ?? '',
  callback: edited?.settings?.callback ?? 'exact',
  clientId: edited?.settings?.clientId ?? '',
  clientSecret: '',
})

/** The URLs that a kind needs. */
export const urlsOf = (kind: ProviderKind) =>
  kind === 'oidc'
    ? (['issuer'] as const)
    : kind === 'oauth2'
      ? (['authEndpoint', 'tokenEndpoint', 'activeUserEndpoint'] as const)
      : []

/** Returns a free name for a kind: the kind itself, or with a number. */
export function suggestName(kind: ProviderKind, taken: readonly string[]): string {
  const names = [kind, ...taken.map((_, at) => `${kind}-${at + 2}`)]
  return names.find((name) => !taken.includes(name)) ?? kind
}

/** Returns the request body of a draft. An empty secret is omitted, which keeps the stored one. */
export function toProviderInput(draft: ProviderDraft): ProviderInput {
  const { kind, callback } = draft
  const text = (key: 'label' | 'clientId' | 'clientSecret') => draft[key].trim()
  return {
    kind,
    ...(text('label') !== '' && { label: text('label') }),
    clientId: text('clientId'),
    ...(text('clientSecret') !== '' && { clientSecret: text('clientSecret') }),
    ...Object.fromEntries(urlsOf(kind).map((key) => [key, draft[key].trim()])),
    ...(kind === 'oauth2' && { callback }),
  } as ProviderInput
}

/** Whether the stored secret of an edited provider would be sent to other URLs. */
export const needsSecret = (draft: ProviderDraft, edited: ProviderSetup | undefined): boolean =>
  edited === undefined ||
  urlsOf(draft.kind).some((key) => draft[key].trim() !== edited.settings?.[key])

/** Returns the schema of a draft. */
export const providerSchema = (edited: ProviderSetup | undefined) =>
  z.custom<ProviderDraft>().check(
    z.refine(({ name }) => providerName.safeParse(name.trim()).success, {
      path: ['name'],
      error:
        'Enter up to 32 lower-case letters, digits and “-”, beginning with a letter. The names local, setup and invitation are taken.',
    }),
    ...(['issuer', 'authEndpoint', 'tokenEndpoint', 'activeUserEndpoint'] as const).map((key) =>
      z.refine<ProviderDraft>(
        (draft) =>
          !(urlsOf(draft.kind) as readonly string[]).includes(key) ||
          isProviderUrl(draft[key].trim()),
        { path: [key], error: 'Enter a URL that begins with https://.' },
      ),
    ),
    z.refine(({ clientId }) => clientId.trim() !== '', {
      path: ['clientId'],
      error: 'Enter the client id that the provider shows.',
    }),
    z.refine((draft) => draft.clientSecret.trim() !== '' || !needsSecret(draft, edited), {
      path: ['clientSecret'],
      error: 'Enter the client secret that the provider shows.',
    }),
  )

/** Assigns all problems that the server has found to their fields. */
export const toProviderErrors = (error: Error): FormErrors =>
  toFormErrors(
    error,
    Object.fromEntries(Object.keys(providerDraft()).map((field) => [field, field])),
  )

/** Returns the callback URL of a provider that may not exist yet, derived from another's. */
export function callbackFor(name: string, setup: readonly ProviderSetup[]): string | undefined {
  for (const each of setup) {
    const end = `/_oauth2/${each.name}/auth`
    if (each.callback?.endsWith(end)) {
      return `${each.callback.slice(0, -end.length)}/_oauth2/${name}/auth`
    }
  }
  return undefined
}

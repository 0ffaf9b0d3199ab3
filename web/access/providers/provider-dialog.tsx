import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import {
  CALLBACK_FORMS,
  PROVIDER_LABELS,
  type ProviderKind,
  type ProviderSetup,
} from '../../../server/contract/access/provider.ts'
import { ApiFailure } from '../../api/client.ts'
import { type DraftForm, useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { CodeInput } from '../../ui/form/code-input.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { useAccessLocation } from '../use-access-location.ts'
import {
  callbackFor,
  needsSecret,
  type ProviderDraft,
  providerDraft,
  providerSchema,
  suggestName,
  toProviderErrors,
  urlsOf,
} from './provider-draft.ts'
import { useSaveProvider } from './provider-requests.ts'

export interface ProviderDialogProps {
  readonly providers: readonly ProviderSetup[]
  /** Undefined to add one. */
  readonly provider?: ProviderSetup | undefined
}

/** The form that adds a provider, or changes one that is managed here. */
export function ProviderDialog({ providers, provider }: ProviderDialogProps) {
  const { close } = useAccessLocation()
  // The form keeps the revision that it began with.
  const [edited] = useState(provider)
  const taken = providers.map(({ name }) => name)
  const [initialValues] = useState(() =>
    edited === undefined
      ? { ...providerDraft(), name: suggestName('oidc', taken) }
      : providerDraft(edited),
  )
  const form = useDraftForm<ProviderDraft>({
    draft: edited === undefined ? 'provider' : `provider ${edited.name}`,
    unstored: ['clientSecret'],
    initialValues,
    schema: providerSchema(edited),
  })
  const save = useSaveProvider()
  const title = edited === undefined ? 'Add a provider' : `Edit ${edited.label}`
  return (
    <Dialog title={title} width={560} onClose={close}>
      <FormFrame
        form={form}
        saveLabel={edited === undefined ? 'Add provider' : 'Save provider'}
        busy={save.isPending}
        sentences={
          edited !== undefined && needsSecret(form.values, edited)
            ? ['With another server, people of this provider count as new and wait for a role.']
            : []
        }
        onSave={() =>
          form.submit((draft) =>
            save.mutate(
              { draft, edited },
              {
                onSuccess: () => {
                  form.deleteDraft()
                  close()
                },
                onError: (error) =>
                  form.showErrors(
                    error instanceof ApiFailure && error.status === 412
                      ? { form: CHANGED }
                      : toProviderErrors(error),
                  ),
              },
            ),
          )
        }
        onCancel={close}
      >
        {edited === undefined && <KindFields form={form} providers={providers} />}
        <SettingsFields form={form} edited={edited} />
      </FormFrame>
    </Dialog>
  )
}

const CHANGED =
  'This provider was changed or removed while you were editing it. Close this dialog and look at it again.'

const kinds: readonly { value: ProviderKind; label: string }[] = [
  { value: 'oidc', label: 'OpenID Connect (any provider)' },
  { value: 'github', label: 'GitHub' },
  { value: 'google', label: 'Google' },
  { value: 'facebook', label: 'Facebook' },
  { value: 'oauth2', label: 'OAuth 2.0 (any other provider)' },
]

interface FieldsProps {
  readonly form: DraftForm<ProviderDraft>
}

/** What identifies a new provider, and its callback URL, which follows from the name. */
function KindFields({ form, providers }: FieldsProps & Pick<ProviderDialogProps, 'providers'>) {
  const taken = providers.map(({ name }) => name)
  const callback = callbackFor(form.values.name.trim(), providers)
  return (
    <>
      <NativeSelect
        label="Provider"
        data={kinds}
        data-autofocus
        value={form.values.kind}
        onChange={(event) => {
          const kind = event.currentTarget.value as ProviderKind
          form.setValues({ kind, name: suggestName(kind, taken) })
        }}
      />
      <CodeInput
        label="Name"
        description="Part of the callback URL and of usernames. It can’t be changed later."
        {...form.getInputProps('name')}
      />
      {callback === undefined ? (
        <p className="warning">Set --public-url to see the callback URL.</p>
      ) : (
        <CopyLine label="Callback URL to register with the provider" text={callback} />
      )}
    </>
  )
}

const urls = {
  issuer: { label: 'Issuer', placeholder: 'https://login.example.com' },
  authEndpoint: {
    label: 'Authorization endpoint',
    placeholder: 'https://login.example.com/authorize',
  },
  tokenEndpoint: { label: 'Token endpoint', placeholder: 'https://login.example.com/token' },
  activeUserEndpoint: { label: 'User endpoint', placeholder: 'https://login.example.com/me' },
} as const

function SettingsFields({ form, edited }: FieldsProps & { edited: ProviderSetup | undefined }) {
  const { kind } = form.values
  return (
    <>
      {urlsOf(kind).map((key) => (
        <CodeInput
          key={key}
          description={key === 'issuer' && 'Its metadata has the endpoints.'}
          {...urls[key]}
          {...form.getInputProps(key)}
        />
      ))}
      <CodeInput label="Client id" {...form.getInputProps('clientId')} />
      <TextInput
        type="password"
        label="Client secret"
        description={
          needsSecret(form.values, edited)
            ? 'Stored encrypted and never shown again.'
            : 'Leave it empty to keep the stored one.'
        }
        autoComplete="new-password"
        {...form.getInputProps('clientSecret')}
      />
      <TextInput
        label="Label"
        description="On the sign-in button. Optional."
        placeholder={PROVIDER_LABELS[kind]}
        autoComplete="off"
        {...form.getInputProps('label')}
      />
      {kind === 'oauth2' && (
        <NativeSelect
          label="Callback form"
          description="How the token that protects the sign-in reaches the callback. Most providers need exact."
          data={[...CALLBACK_FORMS].reverse()}
          {...form.getInputProps('callback')}
        />
      )}
    </>
  )
}

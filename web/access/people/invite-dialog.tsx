import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useBlocker } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { LOCAL_PROVIDER } from '../../../server/contract/access/principal.ts'
import { INVITATION_NOTE, type InvitationInput } from '../../../server/contract/access/provider.ts'
import { api, NoResponse, readJson } from '../../api/client.ts'
import { toFormErrors } from '../../shared/forms/to-form-errors.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { SecretDialog } from '../../shared/secret-dialog.tsx'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { ChoiceGroup } from '../../ui/form/choice-group.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { invitationsQuery, providersQuery } from '../queries.ts'
import { roleDescriptions, tokenRoles } from '../roles.ts'
import { type ScopeDraft, toDatabases, toScopeDraft, validateScope } from '../scope/scope-draft.ts'
import { ScopeFields } from '../scope/scope-fields.tsx'
import { ScopeNames } from '../scope/scope-names.tsx'
import { useAccessLocation } from '../use-access-location.ts'

interface InviteDraft extends ScopeDraft {
  /** Empty: the first one. */
  readonly provider: string
  readonly role: InvitationInput['role']
  /** Days. */
  readonly lifetime: string
  readonly note: string
}

const lifetimes = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  // A minute less than the maximum of the server, whose clock may differ.
  { value: '29.999', label: '30 days' },
]

const schema = z.custom<InviteDraft>().check(
  z.refine((draft) => validateScope(draft) === undefined, {
    path: ['databases'],
    error: ({ input }) => validateScope(input as InviteDraft),
  }),
)

/** The form that invites a person, and then shows the link once. */
export function InviteDialog() {
  const { close } = useAccessLocation()
  const invite = useInvite()
  const query = useQuery(providersQuery)
  useBlocker({ shouldBlockFn: () => invite.isPending, enableBeforeUnload: () => invite.isPending })
  const leave = () => {
    if (!invite.isPending) close()
  }
  if (invite.data !== undefined) {
    const { url, invitation } = invite.data
    return (
      <SecretDialog title="Invitation created" what="link" secret={url} onDone={close}>
        <p>
          Send this link to your colleague. It will not be shown again. The first person who signs
          in with it gets the role {roleLabels[invitation.role].toLowerCase()}
          {invitation.databases !== null && (
            <>
              {' '}
              for <ScopeNames names={invitation.databases} />
            </>
          )}
          .
        </p>
      </SecretDialog>
    )
  }
  return (
    // Closing the dialog during the request would lose the link.
    <Dialog title="Invite a person" width={560} deliberate={invite.isPending} onClose={leave}>
      <QueryResult query={query} what="the providers">
        {(all) => {
          const providers = all.filter(({ name }) => name !== LOCAL_PROVIDER)
          return providers.length === 0 ? (
            <Notice action={<Link to="/access/providers">Go to Providers</Link>}>
              Add a provider first, so that people can sign in with their own accounts.
            </Notice>
          ) : (
            <InviteForm providers={providers} invite={invite} onCancel={leave} />
          )
        }}
      </QueryResult>
    </Dialog>
  )
}

function InviteForm(props: {
  providers: readonly { name: string; label: string }[]
  invite: ReturnType<typeof useInvite>
  onCancel: () => void
}) {
  const { providers, invite, onCancel } = props
  const form = useDraftForm<InviteDraft>({
    draft: 'invitation',
    initialValues: { provider: '', role: 'viewer', ...toScopeDraft(null), lifetime: '7', note: '' },
    schema,
    groups: [['reach', 'databases']],
  })
  const { values: draft, setValues } = form
  const toInput = ({ provider, role, lifetime, note }: InviteDraft): InvitationInput => ({
    provider: provider || (providers[0]?.name ?? ''),
    role,
    databases: toDatabases(draft),
    expires: new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString(),
    ...(note.trim() !== '' && { note: note.trim() }),
  })
  const fields = {
    provider: 'provider',
    role: 'role',
    databases: 'databases',
    expires: 'lifetime',
    note: 'note',
  }
  return (
    <FormFrame
      form={form}
      saveLabel="Create invitation"
      busy={invite.isPending}
      onSave={() =>
        form.submit((draft) =>
          invite.mutate(toInput(draft), {
            onSuccess: form.deleteDraft,
            onError: (error) =>
              form.showErrors(
                error instanceof NoResponse
                  ? { form: `${error.message} ${UNKNOWN}` }
                  : toFormErrors(error, fields),
              ),
          }),
        )
      }
      onCancel={onCancel}
    >
      <TextInput
        label="For"
        description="A name or a note. Shown in the list of invitations and in Activity."
        placeholder="Grace, new in support"
        maxLength={INVITATION_NOTE}
        // The providers may load after the dialog has opened.
        autoFocus
        data-autofocus
        {...form.getInputProps('note')}
      />
      <NativeSelect
        label="Signs in with"
        data={providers.map(({ name, label }) => ({ value: name, label: `${label} (${name})` }))}
        {...form.getInputProps('provider')}
      />
      <ChoiceGroup
        label="Role"
        inline
        choices={tokenRoles.map((role) => ({ value: role, label: roleLabels[role] }))}
        value={draft.role}
        note={roleDescriptions[draft.role]}
        onChange={(role) => setValues({ role })}
      />
      <ScopeFields
        scope={draft}
        error={form.errors.databases}
        note="the person can change no endpoints, databases or people."
        onChange={setValues}
      />
      <NativeSelect label="Expires in" data={lifetimes} {...form.getInputProps('lifetime')} />
    </FormFrame>
  )
}

const UNKNOWN =
  'The invitation may or may not have been created. If it is in the list, delete it before you try again.'

/** Creates an invitation. Its response is the only one with the link. */
function useInvite() {
  const queryClient = useQueryClient()
  return useSingleMutation({
    // The mutation cache would otherwise keep the link for minutes.
    gcTime: 0,
    mutationFn: (json: InvitationInput) => readJson(api._api.invitation.$post({ json })),
    onSuccess: () => {
      // Not awaited, to show the link immediately.
      void queryClient.invalidateQueries({ queryKey: invitationsQuery.queryKey })
    },
  })
}

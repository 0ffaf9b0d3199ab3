import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Invitation } from '../../../server/contract/access/provider.ts'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { IconTrash } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { type Column, RecordTable } from '../../ui/table/record-table.tsx'
import { RelativeTime, TimeLeft } from '../../ui/text/relative-time.tsx'
import { invitationsQuery, providersQuery } from '../queries.ts'
import { ScopeNames } from '../scope/scope-names.tsx'
import { useAccessLocation } from '../use-access-location.ts'

/** The open invitations, if there are any. */
export function Invitations() {
  const { data = [] } = useQuery(invitationsQuery)
  const { search, open } = useAccessLocation()
  const { data: providers = [] } = useQuery(providersQuery)
  const labelOf = (provider: string) =>
    providers.find(({ name }) => name === provider)?.label ?? provider
  const deleted = data.find(({ id }) => id === search.uninvite)
  if (data.length === 0) return null
  const columns: readonly Column<Invitation>[] = [
    { head: 'For', cell: ({ note }) => note ?? <span className="dim">–</span> },
    { head: 'Signs in with', width: 160, cell: ({ provider }) => labelOf(provider) },
    { head: 'Role', width: 96, cell: ({ role }) => roleLabels[role] },
    {
      head: 'Databases',
      width: 160,
      cell: ({ databases }) => (databases === null ? 'All' : <ScopeNames names={databases} />),
    },
    {
      head: 'Invited by',
      width: 160,
      cell: ({ creator }) => <span className="mono">{creator}</span>,
    },
    {
      head: 'Created',
      width: 128,
      wideOnly: true,
      cell: ({ created }) => <RelativeTime time={created} tabIndex={0} />,
    },
    {
      head: 'Expires',
      width: 128,
      cell: ({ expires }) => <TimeLeft until={expires} over="Expired" tabIndex={0} />,
    },
    {
      head: 'Delete',
      width: 48,
      actions: true,
      cell: ({ id, provider, note }) => (
        <IconButton
          aria-label={`Delete the invitation for ${note ?? labelOf(provider)}`}
          data-tip="Delete"
          onClick={() => open({ uninvite: id })}
        >
          <IconTrash />
        </IconButton>
      ),
    },
  ]
  return (
    <Section title="Invitations" count={data.length} note="Each works once, until it expires.">
      <RecordTable caption="Invitations" records={data} columns={columns} idOf={({ id }) => id} />
      {deleted !== undefined && <DeleteDialog key={deleted.id} invitation={deleted} />}
    </Section>
  )
}

function DeleteDialog({ invitation }: { invitation: Invitation }) {
  const { close } = useAccessLocation()
  const queryClient = useQueryClient()
  const remove = useReportedMutation({
    change: () => ({ what: 'The invitation', done: 'deleted' }),
    mutationFn: ({ id }: Invitation) =>
      ignoreMissing(readJson(api._api.invitation[':id'].$delete({ param: { id } }))),
    onSuccess: () => {
      showToast({ text: 'Invitation deleted' })
      return queryClient.invalidateQueries({ queryKey: invitationsQuery.queryKey })
    },
  })
  return (
    <ConfirmDialog
      title="Delete this invitation?"
      keep="Keep it"
      error={remove.error?.message ?? ''}
      confirm={{
        label: 'Delete invitation',
        busy: remove.isPending,
        run: () => remove.mutate(invitation, { onSuccess: close }),
      }}
      onClose={close}
    >
      <p>Its link stops working immediately.</p>
    </ConfirmDialog>
  )
}

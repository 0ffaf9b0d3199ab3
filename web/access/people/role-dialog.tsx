import type { Person, Role } from '../../../server/contract/access/principal.ts'
import { nameOf, usePresence } from '../../api/session/person.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { usePeopleLocation } from '../use-access-location.ts'
import { useChangeRole } from './change-role.ts'
import { formatRoleChange } from './role-change.ts'
import { roleDescriptions } from './roles.ts'

/** Asks for confirmation before a role change, and lists its consequences. */
export function RoleDialog({ person, role }: { person: Person; role: Role }) {
  const { close } = usePeopleLocation()
  const me = usePresence().person.id
  const name = nameOf(person)
  const removes = role === 'none'
  const change = useChangeRole()
  return (
    <ConfirmDialog
      title={removes ? `Remove access of ${name}?` : `Make ${name} ${role}?`}
      keep={keepLabel(person.role, removes)}
      error={change.error?.message ?? ''}
      confirm={{
        label: removes ? 'Remove access' : `Make ${role}`,
        busy: change.isPending,
        harmless: !removes,
        // A callback of `mutate` does not run if the dialog was closed before the response.
        run: () => change.mutate({ person, role }, { onSuccess: close }),
      }}
      onClose={close}
    >
      {!removes && <p>{roleDescriptions[role]}</p>}
      {formatRoleChange({ person, role, self: person.id === me }).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </ConfirmDialog>
  )
}

function keepLabel(now: Role, removes: boolean): string {
  if (removes) return 'Keep access'
  return now === 'pending' || now === 'none' ? 'Not now' : `Keep ${now}`
}

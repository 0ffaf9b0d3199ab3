import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Person } from '../../server/contract/person.ts'
import type { Role } from '../../server/contract/role.ts'
import { answer, api } from '../api.ts'
import { nameOf, usePresence } from '../person.ts'
import { announce } from '../ui/announce.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { peopleQuery } from './queries.ts'
import { sayRoleChange } from './role-change.ts'
import { roleSentences } from './role-words.ts'
import { usePeopleLocation } from './use-access-location.ts'

/** Asks before somebody gets another role: what they may then, and that their sessions end. */
export function RoleDialog({ person, role }: { person: Person; role: Role }) {
  const { close } = usePeopleLocation()
  const me = usePresence().person.id
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: () =>
      answer(api._api.user[':id'].$patch({ param: { id: person.id }, json: { role } })),
    onSuccess: async () => {
      announce(`${nameOf(person)} is ${role} now.`)
      await queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey })
      close()
    },
  })
  return (
    <ConfirmDialog
      title={`Make ${nameOf(person)} ${role}?`}
      keep={person.role === 'pending' ? 'Not now' : `Keep ${person.role}`}
      fault={change.error?.message ?? ''}
      confirm={{
        label: `Make ${role}`,
        busy: change.isPending,
        harmless: true,
        run: () => change.mutate(),
      }}
      onClose={close}
    >
      <p>{roleSentences[role]}</p>
      {sayRoleChange({ person, role, self: person.id === me }).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </ConfirmDialog>
  )
}

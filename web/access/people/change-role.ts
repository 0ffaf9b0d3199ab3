import { useQueryClient } from '@tanstack/react-query'
import type { Person, Role } from '../../../server/contract/access/principal.ts'
import { api, readJson } from '../../api/client.ts'
import { nameOf } from '../../api/session/person.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { peopleQuery } from '../queries.ts'

interface RoleAssignment {
  readonly person: Person
  readonly role: Role
}

const changeRole = ({ person: { id }, role }: RoleAssignment) =>
  readJson(api._api.user[':id'].$patch({ param: { id }, json: { role } }))

/** Gives a person another role. The role `none` removes access. */
export function useChangeRole() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: changeRole,
    change: ({ person }) => ({ what: `The role of ${nameOf(person)}`, done: 'changed' }),
    onSuccess: (_, { person, role }) => {
      const name = nameOf(person)
      showToast({ text: role === 'none' ? `Access of ${name} removed` : `${name} is now ${role}` })
      return queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey })
    },
  })
}

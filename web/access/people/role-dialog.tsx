import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type AccessRole,
  atLeast,
  type Person,
  type Role,
} from '../../../server/contract/access/principal.ts'
import { api, readJson } from '../../api/client.ts'
import { peopleQuery } from '../../api/queries.ts'
import { nameOf, usePresence } from '../../api/session/person.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { roleLabels, withArticle } from '../../shared/session/role-labels.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { ChoiceGroup } from '../../ui/form/choice-group.tsx'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { roleDescriptions, tokenRoles } from '../roles.ts'
import { toDatabases, toScopeDraft, validateScope } from '../scope/scope-draft.ts'
import { ScopeFields } from '../scope/scope-fields.tsx'
import { useAccessLocation } from '../use-access-location.ts'

interface RoleDialogProps {
  readonly person: Person
  /** Whether the person loses access, or is denied it. Otherwise, the admin chooses a role. */
  readonly isRemoval: boolean
}

/** Chooses the role of a person and its databases, or removes access, and lists the consequences. */
export function RoleDialog({ person, isRemoval }: RoleDialogProps) {
  const isWaiting = person.role === 'pending'
  const roles: readonly AccessRole[] = isWaiting ? tokenRoles : [...tokenRoles, 'pending']
  const [choice, setChoice] = useState(() => roles.find((each) => each === person.role) ?? 'viewer')
  const role = isRemoval ? 'none' : choice
  const { close } = useAccessLocation()
  const me = usePresence().person.id
  const name = nameOf(person)
  const change = useChangeRole()
  const [scope, setScope] = useState(toScopeDraft(person.databases))
  const [invalid, setInvalid] = useState<string>()
  const run = () => {
    const problem = validateScope(scope)
    setInvalid(problem)
    if (problem !== undefined) return
    change.mutate({ person, role, databases: toDatabases(scope) }, { onSuccess: close })
  }
  const isMember = atLeast(person.role, 'viewer')
  const verb = isRemoval ? (isWaiting ? 'Deny' : 'Remove') : isMember ? 'Change' : 'Give'
  return (
    <ConfirmDialog
      title={isRemoval ? `${verb} access ${isWaiting ? 'to' : 'of'} ${name}?` : `Access of ${name}`}
      keep={isRemoval && !isWaiting ? 'Keep access' : 'Cancel'}
      error={change.error?.message ?? ''}
      confirm={{
        label: `${verb} access`,
        busy: change.isPending,
        harmless: !isRemoval,
        // A callback of `mutate` does not run if the dialog was closed before the response.
        run,
      }}
      onClose={close}
    >
      {!isRemoval && (
        <ChoiceGroup
          label="Role"
          inline
          first
          choices={roles.map((value) => ({ value, label: roleLabels[value] }))}
          value={choice}
          note={roleDescriptions[choice]}
          onChange={setChoice}
        />
      )}
      {atLeast(role, 'viewer') && (
        <ScopeFields
          scope={scope}
          error={invalid}
          note={`${name} can change no endpoints, databases or people. The limit also applies to tokens.`}
          onChange={(part) => {
            setScope({ ...scope, ...part })
            setInvalid(undefined)
          }}
        />
      )}
      {formatRoleChange({ person, role, self: person.id === me }).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </ConfirmDialog>
  )
}

interface RoleAssignment {
  readonly person: Person
  readonly role: Role
  readonly databases: string[] | null
}

const changeRole = ({ person: { id }, ...json }: RoleAssignment) =>
  readJson(api._api.user[':id'].$patch({ param: { id }, json }))

/** Gives a person another role. The role `none` removes access. */
function useChangeRole() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: changeRole,
    change: ({ person }) => ({ what: `The role of ${nameOf(person)}`, done: 'changed' }),
    onSuccess: (_, { person, role }) => {
      const name = nameOf(person)
      showToast({ text: describeChange(name, person.role, role) })
      return queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey })
    },
  })
}

function describeChange(name: string, before: Role, role: Role): string {
  if (role === 'none') return `Access of ${name} removed`
  return role === before ? `Access of ${name} changed` : `${name} is now ${role}`
}

interface RoleChange {
  readonly person: Person
  readonly role: Role
  /** Whether admins change their own role. */
  readonly self: boolean
}

/** Returns the consequences of a role change, one sentence each. */
export function formatRoleChange({ person, role, self }: RoleChange): string[] {
  const name = self ? 'You' : nameOf(person)
  const possessive = self ? 'Your' : `${nameOf(person)}'s`
  if (role === 'none') {
    return [
      `${possessive} sessions and tokens end immediately on all nodes.`,
      `${name} cannot sign in until an admin assigns ${self ? 'you' : 'them'} a role again.`,
      'Revoked tokens stay revoked, so programs need new ones.',
    ]
  }
  if (person.role === 'none') return [`${name} can sign in again, as ${role}.`]
  const sessions =
    person.sessions === 0
      ? `${name} is not signed in. The next session has the ${role} role.`
      : `${possessive} sessions end. After signing in again, ${name} has the ${role} role.`
  const tokens =
    role === 'pending'
      ? `${possessive} tokens are rejected until a role is assigned again.`
      : `${possessive} tokens are limited to the permissions of ${withArticle(role)}.`
  return [
    self ? `This is your own role. Your sessions end, and you sign in again as ${role}.` : sessions,
    ...(atLeast(role, person.role) ? [] : [tokens]),
    ...(person.roleSource === 'groups' ? [`${possessive} groups no longer change the role.`] : []),
  ]
}

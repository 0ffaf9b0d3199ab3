import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { atLeast, type Person, type Role } from '../../../server/contract/access/principal.ts'
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
import { usePeopleLocation } from '../use-access-location.ts'

/**
 * Asks for confirmation before a role change, lists its consequences, and limits the role to
 * databases. With the current role, only the limit changes. Without a role, the admin chooses one.
 */
export function RoleDialog(props: { person: Person; role?: Role }) {
  const { person } = props
  const isChosen = props.role === undefined
  const [choice, setChoice] = useState(
    () => tokenRoles.find((each) => each === person.role) ?? 'viewer',
  )
  const role = props.role ?? choice
  const isWaiting = person.role === 'pending'
  const { close } = usePeopleLocation()
  const me = usePresence().person.id
  const name = nameOf(person)
  const removes = role === 'none'
  const change = useChangeRole()
  const [scope, setScope] = useState(toScopeDraft(person.databases))
  const [invalid, setInvalid] = useState<string>()
  const isSame = role === person.role
  const run = () => {
    const problem = validateScope(scope)
    setInvalid(problem)
    if (problem !== undefined) return
    change.mutate({ person, role, databases: toDatabases(scope) }, { onSuccess: close })
  }
  return (
    <ConfirmDialog
      title={
        removes
          ? isWaiting
            ? `Deny access to ${name}?`
            : `Remove access of ${name}?`
          : isChosen
            ? `Access of ${name}`
            : isSame
              ? `Databases of ${name}`
              : `Make ${name} ${role}?`
      }
      keep={isSame || isChosen ? 'Cancel' : keepLabel(person.role, removes)}
      error={change.error?.message ?? ''}
      confirm={{
        label: removes
          ? isWaiting
            ? 'Deny access'
            : 'Remove access'
          : isChosen
            ? isWaiting
              ? 'Give access'
              : 'Change access'
            : isSame
              ? 'Change databases'
              : `Make ${role}`,
        busy: change.isPending,
        harmless: !removes,
        // A callback of `mutate` does not run if the dialog was closed before the response.
        run,
      }}
      onClose={close}
    >
      {!removes && !isSame && !isChosen && <p>{roleDescriptions[role]}</p>}
      {isChosen && (
        <ChoiceGroup
          label="Role"
          inline
          first
          choices={tokenRoles.map((value) => ({ value, label: roleLabels[value] }))}
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

function keepLabel(now: Role, removes: boolean): string {
  if (removes) return now === 'pending' ? 'Not now' : 'Keep access'
  return now === 'pending' || now === 'none' ? 'Not now' : `Keep ${now}`
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
  return role === before ? `Databases of ${name} changed` : `${name} is now ${role}`
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

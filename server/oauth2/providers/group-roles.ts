import { type AccessRole, atLeast, ROLES } from '../../contract/access/principal.ts'

/** The roles that groups at a provider assign at sign-in (docs/sign-in.md, "Roles from groups"). */
export interface GroupRoles {
  /** Name of the claim with a person's groups. */
  readonly claim: string
  readonly roles: ReadonlyMap<string, AccessRole>
}

/** Maximum number of a person's groups that are examined. */
const MAX_GROUPS = 1_000

/** Maximum length of a group's name, characters. Longer names match no group. */
const MAX_NAME = 256

/** Roles that groups can have. */
const ASSIGNABLE = ROLES.filter((role) => atLeast(role, 'viewer')) as readonly AccessRole[]

/**
 * Returns the highest role of a person's groups; `pending` if none of them has a role. The claim is
 * an array of names or one name.
 *
 * @param claims of a verified ID token, or of the user endpoint; null if there are none.
 */
export function roleOfGroups(
  claims: Readonly<Record<string, unknown>> | null,
  { claim, roles }: GroupRoles,
): AccessRole {
  const value = claims !== null && Object.hasOwn(claims, claim) ? claims[claim] : []
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  let highest: AccessRole = 'pending'
  for (const name of names.slice(0, MAX_GROUPS)) {
    if (typeof name !== 'string' || name.length > MAX_NAME) continue
    const role = roles.get(name)
    if (role !== undefined && atLeast(role, highest)) highest = role
  }
  return highest
}

/**
 * Parses `GATEHOUSE_OIDC_ROLE_CLAIM` and `GATEHOUSE_OIDC_ROLES`. A name ends at the last colon of
 * its entry.
 *
 * @param errors receives a sentence for each error.
 */
export function parseGroupRoles(
  claim: string | undefined,
  text: string | undefined,
  errors: string[],
): GroupRoles | undefined {
  if (claim === undefined && text === undefined) return undefined
  if (claim === undefined) errors.push(`${ROLES_FROM} requires ${CLAIM_FROM}, such as groups.`)
  if (text === undefined) errors.push(`${CLAIM_FROM} requires ${ROLES_FROM}, such as ops:operator.`)
  const roles = new Map<string, AccessRole>()
  for (const entry of (text ?? '').split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const end = entry.lastIndexOf(':')
    const name = entry.slice(0, Math.max(end, 0)).trim()
    const role = ASSIGNABLE.find((each) => each === entry.slice(end + 1).trim())
    const quoted = JSON.stringify(entry.slice(0, 80))
    if (name === '' || name.length > MAX_NAME || role === undefined) {
      errors.push(
        `${ROLES_FROM} must be a comma-separated list of <group>:<role>, such as ops:operator. ` +
          `Invalid entry: ${quoted}. A group has 1 to ${MAX_NAME} characters. The roles are ${ASSIGNABLE.join(', ')}.`,
      )
    } else if (roles.has(name)) {
      errors.push(`${ROLES_FROM} contains a group twice: ${quoted}.`)
    } else roles.set(name, role)
  }
  if (text !== undefined && text.replaceAll(',', '').trim() === '') {
    errors.push(`${ROLES_FROM} contains no group.`)
  }
  return { claim: claim ?? '', roles }
}

const CLAIM_FROM = 'GATEHOUSE_OIDC_ROLE_CLAIM'
const ROLES_FROM = 'GATEHOUSE_OIDC_ROLES'

import * as z from 'zod/mini'

/** Roles of people and tokens, lowest first; each role includes the permissions of lower ones. */
export const ROLES = ['none', 'pending', 'viewer', 'operator', 'admin'] as const

/**
 * A role: `none` has no access and cannot sign in, `pending` waits for a role, `viewer` reads,
 * `operator` changes, `admin` also manages people.
 */
export const role = z
  .enum(ROLES)
  .check(
    z.describe(
      'none: access removed, cannot sign in; pending: waits for a role; viewer: reads; ' +
        'operator: changes endpoints, databases and documents; admin: also people and tokens',
    ),
  )

export type Role = z.infer<typeof role>

/** A role other than `none`. Every signed-in person and every token has one. */
export type AccessRole = Exclude<Role, 'none'>

/** Returns whether a role includes the permissions of another. */
export const atLeast = (has: Role, needed: Role): boolean =>
  ROLES.indexOf(has) >= ROLES.indexOf(needed)

/** Returns the lower of two roles. */
export const lowerRole = (a: Role, b: Role): Role => (atLeast(a, b) ? b : a)

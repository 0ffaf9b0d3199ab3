import * as z from 'zod/mini'

/** The roles of people and tokens, least first: each may all that the ones before it may. */
export const ROLES = ['pending', 'viewer', 'operator', 'admin'] as const

/** A role: `pending` may nothing yet, `viewer` reads, `operator` changes, `admin` decides on people. */
export const role = z.enum(ROLES)

/** {@link role} as a type. */
export type Role = z.infer<typeof role>

/** Whether a role may what another may. */
export const atLeast = (has: Role, needed: Role): boolean =>
  ROLES.indexOf(has) >= ROLES.indexOf(needed)

/** The lower of two roles. */
export const lowerOf = (a: Role, b: Role): Role => (atLeast(a, b) ? b : a)

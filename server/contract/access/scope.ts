import * as z from 'zod/mini'

/** The databases that a role or a token is limited to; null: every database. */
export type Scope = readonly string[] | null

/** Maximum number of databases in a scope. */
export const SCOPE_DATABASES = 1_000

/** A scope in a request. */
export const scopeInput = z.nullable(
  z.array(z.string()).check(z.maxLength(SCOPE_DATABASES, 'at most 1,000 names')),
)

/** Returns whether a scope includes a database. */
export const inScope = (scope: Scope, database: string): boolean =>
  scope?.includes(database) ?? true

/** Returns the databases that are in both scopes. */
export function intersectScopes(a: Scope, b: Scope): Scope {
  if (a === null || b === null) return a ?? b
  const other = new Set(b)
  return a.filter((name) => other.has(name))
}

/** Returns whether a scope includes every database of another. */
export const includesScope = (scope: Scope, other: Scope): boolean =>
  scope === null || (other !== null && intersectScopes(other, scope)?.length === other.length)

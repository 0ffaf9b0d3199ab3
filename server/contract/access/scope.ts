import * as z from 'zod/mini'
import { SYSTEM_DATABASE } from '../database.ts'

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

/**
 * Returns the databases to which reads under `/_api` are limited; null: none. A scope with `_system`
 * includes the whole administration.
 */
export const administrationScope = (scope: Scope): Scope =>
  inScope(scope, SYSTEM_DATABASE) ? null : scope

/** Which endpoints a reader of the administration may see, and what of their mappings. */
export interface EndpointView {
  /**
   * Returns whether an endpoint serves a database of the reader.
   *
   * @param mapping its databases, empty for all; undefined if they are unknown.
   */
  shows(mapping: readonly string[] | undefined): boolean
  /** Returns the databases of a mapping that the reader may see. */
  namesOf(mapping: string[]): string[]
}

/** Creates the {@link EndpointView} of a reader with a scope. */
export function createEndpointView(scope: Scope): EndpointView {
  const limit = administrationScope(scope)
  if (limit === null) return { shows: () => true, namesOf: (mapping) => mapping }
  const names = new Set(limit)
  return {
    shows: (mapping) =>
      mapping !== undefined && (mapping.length === 0 || mapping.some((name) => names.has(name))),
    namesOf: (mapping) => mapping.filter((name) => names.has(name)),
  }
}

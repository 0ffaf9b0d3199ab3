import type { ErrorObject } from 'ajv/dist/2020.js'
import { POINTER_LENGTH, VIOLATIONS, type Violation } from '../contract/schema.ts'
import { Failure } from '../failure.ts'

/** What documents violate: the first {@link VIOLATIONS} of them, and how many there are. */
export interface Findings {
  readonly violations: readonly Violation[]
  readonly count: number
}

/**
 * Returns errors of Ajv as findings.
 *
 * @param room how many violations are still to be listed.
 * @param prefix begins each pointer.
 */
export function toFindings(
  errors: readonly ErrorObject[],
  room = VIOLATIONS,
  prefix = '',
): Findings {
  return {
    violations: errors.slice(0, room).map((error) => toViolation(error, prefix)),
    count: errors.length,
  }
}

/** Makes the failure of what has such findings; `what` is its predicate. */
export function violated(what: string, { violations, count }: Findings): Failure {
  const [first] = violations
  const where = first?.pointer === '' ? 'it' : first?.pointer
  const more = count > 1 ? ` There are ${count} violations.` : ''
  return new Failure('invalid', `This ${what}: ${where} ${first?.message}.${more}`, {
    details: { violations },
  })
}

/** Makes the failure of what cannot be used or checked as a whole. */
export const unusable = (message: string) =>
  new Failure('invalid', message, { details: { violations: [{ pointer: '', message }] } })

/** A value as JSON, cut. */
export const quoted = (value: unknown) => JSON.stringify(value)?.slice(0, 128) ?? ''

const named = (value: unknown) => `“${String(value).slice(0, 128)}”`
const many = (limit: unknown, one: string, others = `${one}s`) =>
  `${limit} ${limit === 1 ? one : others}`

/** What a keyword asks for in words, where Ajv's own message is terse or leaves it out. */
const wanted: Readonly<Record<string, (params: Record<string, unknown>) => string>> = {
  required: ({ missingProperty }) => `must have the property ${named(missingProperty)}`,
  additionalProperties: ({ additionalProperty }) =>
    `must not have the property ${named(additionalProperty)}`,
  unevaluatedProperties: ({ unevaluatedProperty }) =>
    `must not have the property ${named(unevaluatedProperty)}`,
  enum: ({ allowedValues }) => `must be one of ${quoted(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${quoted(allowedValue)}`,
  minLength: ({ limit }) => `must have at least ${many(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${many(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${many(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${many(limit, 'item')}`,
  minProperties: ({ limit }) => `must have at least ${many(limit, 'property', 'properties')}`,
  maxProperties: ({ limit }) => `must have at most ${many(limit, 'property', 'properties')}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
}

function toViolation(error: ErrorObject, prefix: string): Violation {
  const { instancePath, keyword, message = 'does not fit', params } = error
  const pointer = prefix + instancePath
  return {
    pointer: pointer.length > POINTER_LENGTH ? `${pointer.slice(0, POINTER_LENGTH)}…` : pointer,
    message: wanted[keyword]?.(params) ?? message,
  }
}

import type { ErrorObject } from 'ajv/dist/2020.js'
import { POINTER_LENGTH, VIOLATIONS, type Violation } from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'

/** The first {@link VIOLATIONS} violations of documents by a schema, and their total number. */
export interface ValidationResult {
  readonly violations: readonly Violation[]
  readonly count: number
}

/**
 * Converts errors of Ajv to a result.
 *
 * @param room maximum number of violations to list.
 * @param prefix prepended to each pointer.
 */
export function toValidationResult(
  errors: readonly ErrorObject[],
  room = VIOLATIONS,
  prefix = '',
): ValidationResult {
  return {
    violations: errors.slice(0, room).map((error) => toViolation(error, prefix)),
    count: errors.length,
  }
}

/** Returns the failure for an invalid result. `what` is the predicate of its message. */
export function violationFailure(what: string, { violations, count }: ValidationResult): Failure {
  const [first] = violations
  const where = first?.pointer === '' ? 'it' : first?.pointer
  const more = count > 1 ? ` There are ${count} violations.` : ''
  return new Failure('invalid', `This ${what}: ${where} ${first?.message}.${more}`, {
    field: first?.pointer,
    violations: [...violations],
  })
}

/** Returns the failure for a schema or a value that cannot be used or validated as a whole. */
export const unusableSchema = (message: string) =>
  new Failure('invalid', message, { field: '', violations: [{ pointer: '', message }] })

/** Returns a value as JSON, truncated to 128 characters. */
export const quoteValue = (value: unknown) => JSON.stringify(value)?.slice(0, 128) ?? ''

const quoteName = (value: unknown) => `“${String(value).slice(0, 128)}”`
const many = (limit: unknown, one: string, others = `${one}s`) =>
  `${limit} ${limit === 1 ? one : others}`

/** Messages by keyword, where Ajv's own message is terse or omits the expected value. */
const messages: Readonly<Record<string, (params: Record<string, unknown>) => string>> = {
  required: ({ missingProperty }) => `must have the property ${quoteName(missingProperty)}`,
  additionalProperties: ({ additionalProperty }) =>
    `must not have the property ${quoteName(additionalProperty)}`,
  unevaluatedProperties: ({ unevaluatedProperty }) =>
    `must not have the property ${quoteName(unevaluatedProperty)}`,
  enum: ({ allowedValues }) => `must be one of ${quoteValue(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${quoteValue(allowedValue)}`,
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
  const { instancePath, keyword, message = 'is invalid', params } = error
  const pointer = prefix + instancePath
  return {
    pointer: pointer.length > POINTER_LENGTH ? `${pointer.slice(0, POINTER_LENGTH)}…` : pointer,
    message: messages[keyword]?.(params) ?? message,
  }
}

import { Ajv2020, type ErrorObject, MissingRefError, type ValidateFunction } from 'ajv/dist/2020.js'
import { VIOLATIONS, type Violation } from '../contract/schema.ts'
import { Failure } from '../failure.ts'
import { limited } from './limited.ts'
import { type Json, printJson } from './strict-json.ts'

/** How long the check of one batch, or the making of a validator, may hold up the process, ms. */
const LIMIT = { check: 250, compile: 2_000 } as const

/** What can take longer than the sizes of schema and document say, wherever it stands. */
const SLOW = /"(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef)":/

/** Bytes of a schema times bytes of a batch; more than that is checked under the limit, too. */
const LARGE = 10_000_000

/** A document to be checked, and what it is as JSON. */
export interface Checked {
  readonly value: Json
  readonly body: string
}

/**
 * Checks documents.
 *
 * @param indexed whether they came in an array: pointers then begin with the index.
 * @param from the index of the first of them, where they are a part of it.
 * @throws Failure `invalid` with every violation.
 */
export type Validate = (
  documents: readonly Checked[],
  indexed: boolean,
  from?: number,
) => Promise<void>

// Nothing is said of formats: in this draft they are remarks. No own or unknown keyword is an
// error, and nothing is fetched: a reference that leads outside is refused when compiled.
const OPTIONS = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  logger: false,
  // Else "required" would find "toString" in every document.
  ownProperties: true,
  // Else 19.99 were no multiple of 0.01.
  multipleOfPrecision: 9,
} as const

/** Knows the meta-schema alone; schemas that come in are checked by it, never added to it. */
const meta = new Ajv2020(OPTIONS)

/**
 * Makes a validator of a JSON Schema, draft 2020-12.
 *
 * Each is compiled for itself: an `$id` says nothing to the schemas of others. What is compiled holds
 * names and patterns as values, never as code. `$async` would let everything pass: it is refused.
 *
 * @throws Failure `invalid` naming what is wrong with the schema.
 */
export function compileSchema(schema: Json): Validate {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null)) {
    throw unusable('A schema is a JSON object, or true or false.')
  }
  const text = printJson(schema)
  const validate = compiled(schema)
  const fits = (documents: readonly Checked[], first: number, indexed: boolean) => {
    const violations: Violation[] = []
    let count = 0
    documents.forEach(({ value }, at) => {
      if (validate(value)) return
      count += validate.errors?.length ?? 0
      for (const error of validate.errors ?? []) {
        if (violations.length === VIOLATIONS) break
        violations.push(toViolation(error, indexed ? `/${first + at}` : ''))
      }
      validate.errors = null
    })
    return { violations, count }
  }

  return async (documents, indexed, from = 0) => {
    const violations: Violation[] = []
    let count = 0
    let at = 0
    while (at < documents.length) {
      const first = at
      let size = 0
      while (at < documents.length && (at === first || size < 1024 * 1024)) {
        size += documents[at++]?.body.length ?? 0
      }
      const batch = documents.slice(first, at)
      const check = () => guarded(() => fits(batch, from + first, indexed))
      const slow = SLOW.test(text) || size * text.length > LARGE
      const found = slow ? limited(check, LIMIT.check)?.result : check()
      if (found === undefined) throw unchecked()
      violations.push(...found.violations.slice(0, VIOLATIONS - violations.length))
      count += found.count
      // Others have their turn between two batches.
      if (at < documents.length) await new Promise(setImmediate)
    }
    if (count > 0) throw violated('does not fit the schema of its collection', violations, count)
  }
}

function compiled(schema: boolean | object): ValidateFunction {
  const made = limited(() => {
    try {
      if (!meta.validateSchema(schema)) return { errors: [...(meta.errors ?? [])] }
      if (typeof schema === 'object' && '$async' in schema) {
        return { reason: '$async is not a keyword of JSON Schema.' }
      }
      return { validate: new Ajv2020({ ...OPTIONS, validateSchema: false }).compile(schema) }
    } catch (error) {
      return { reason: reasonOf(error) }
    }
  }, LIMIT.compile)?.result
  if (made?.validate !== undefined) return made.validate
  if (made?.errors === undefined) {
    throw unusable(`The schema cannot be used. ${made?.reason ?? 'It takes too long to read.'}`)
  }
  const violations = made.errors.slice(0, VIOLATIONS).map((error) => toViolation(error, ''))
  throw violated('is no JSON Schema of draft 2020-12', violations, made.errors.length)
}

/** Why a schema could not be compiled, for whoever wrote it. */
function reasonOf(error: unknown): string {
  if (error instanceof MissingRefError) {
    return `The reference ${quoted(error.missingRef)} leads nowhere in it, and none is followed outside.`
  }
  if (error instanceof RangeError) return 'It is nested too deeply.'
  return error instanceof Error ? `${error.message.slice(0, 256)}.` : 'It has a fault.'
}

/** What recursion without end, by a reference to itself, comes to. */
function guarded<T>(check: () => T): T | undefined {
  try {
    return check()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const quoted = (value: unknown) => JSON.stringify(value)?.slice(0, 128) ?? ''

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
  return { pointer: prefix + instancePath, message: wanted[keyword]?.(params) ?? message }
}

function violated(what: string, violations: readonly Violation[], count: number): Failure {
  const [first] = violations
  const where = first?.pointer === '' ? 'it' : first?.pointer
  const more = count > 1 ? ` There are ${count} violations.` : ''
  return new Failure('invalid', `This ${what}: ${where} ${first?.message}.${more}`, {
    details: { violations },
  })
}

const unusable = (message: string) =>
  new Failure('invalid', message, { details: { violations: [{ pointer: '', message }] } })

const unchecked = () =>
  unusable('This takes too long to be checked against the schema of its collection.')

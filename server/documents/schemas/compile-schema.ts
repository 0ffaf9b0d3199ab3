import { Ajv2020, MissingRefError, type ValidateFunction } from 'ajv/dist/2020.js'
import { VIOLATIONS, type Violation } from '../contract/schema.ts'
import type { Json } from './strict-json.ts'
import { type Findings, quoted, toFindings, unusable, violated } from './violations.ts'

// Runs in a worker (schema-worker.ts): a schema can take any time to compile, and to check by.

/**
 * Checks values, each by itself.
 *
 * @param from the index of the first of them in an array; undefined: no array was sent. Pointers
 * begin with it.
 * @throws Failure `invalid` where a value cannot be checked, for a reference that leads to itself.
 */
export type Check = (values: readonly Json[], from: number | undefined) => Findings

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
 * Compiles a JSON Schema, draft 2020-12.
 *
 * Each is compiled for itself: an `$id` says nothing to the schemas of others. What is compiled holds
 * names and patterns as values, never as code. `$async` would let everything pass: it is refused.
 *
 * @throws Failure `invalid` naming what is wrong with the schema.
 */
export function compileSchema(schema: Json): Check {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null)) {
    throw unusable('A schema is a JSON object, or true or false.')
  }
  const validate = compiled(schema)
  return (values, from) => {
    const violations: Violation[] = []
    let count = 0
    values.forEach((value, at) => {
      if (fits(validate, value)) return
      const room = VIOLATIONS - violations.length
      const prefix = from === undefined ? '' : `/${from + at}`
      const found = toFindings(validate.errors ?? [], room, prefix)
      violations.push(...found.violations)
      count += found.count
      validate.errors = null
    })
    return { violations, count }
  }
}

function compiled(schema: boolean | object): ValidateFunction {
  let isValid: boolean
  try {
    isValid = meta.validateSchema(schema) === true
    if (isValid && !(typeof schema === 'object' && '$async' in schema)) {
      return new Ajv2020({ ...OPTIONS, validateSchema: false }).compile(schema)
    }
  } catch (error) {
    throw unusable(`The schema cannot be used. ${reasonOf(error)}`)
  }
  if (isValid) throw unusable('The schema cannot be used. $async is not a keyword of JSON Schema.')
  throw violated('is no JSON Schema of draft 2020-12', toFindings(meta.errors ?? []))
}

function fits(validate: ValidateFunction, value: Json): boolean {
  try {
    return validate(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // Recursion without end, by a reference to itself.
    throw unusable('Checking this against the schema of its collection takes too long.')
  }
}

/** Why a schema could not be compiled, for whoever wrote it. */
function reasonOf(error: unknown): string {
  if (error instanceof MissingRefError) {
    return `The reference ${quoted(error.missingRef)} leads nowhere in it, and none is followed outside.`
  }
  if (error instanceof RangeError) return 'It is nested too deeply.'
  return error instanceof Error ? `${error.message.slice(0, 256)}.` : 'It has a fault.'
}

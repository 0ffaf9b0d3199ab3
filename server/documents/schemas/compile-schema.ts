import { Ajv2020, type ErrorObject, MissingRefError, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Json } from '../../contract/json/json.ts'
import { PATTERN_LENGTH, VIOLATIONS, type Violation } from '../../contract/schema.ts'
import { replaceKeywords } from './keywords.ts'
import {
  quoteValue,
  toValidationResult,
  unusableSchema,
  type ValidationResult,
  violationFailure,
} from './violations.ts'

// Runs in a worker (schema-worker.ts), because compiling and validating can take arbitrarily long.

/**
 * Validates values independently of each other.
 *
 * @param from the index of the first value in an array, which pointers then begin with; undefined
 * for a single document.
 * @throws Failure `invalid` if validation recurses without end.
 */
export type Check = (values: readonly Json[], from: number | undefined) => ValidationResult

/** Creates the regular expression of a schema, wherever it is. */
function createRegExp(pattern: string, flags: string): RegExp {
  if (pattern.length <= PATTERN_LENGTH) return new RegExp(pattern, flags)
  throw new Error(`A regular expression has more than ${PATTERN_LENGTH} characters`)
}

// Formats are annotations in this draft and are not validated. Unknown keywords are allowed.
// Nothing is fetched: compilation rejects references to other documents.
const OPTIONS = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  logger: false,
  // Otherwise "required" finds "toString" in every document.
  ownProperties: true,
  code: { regExp: Object.assign(createRegExp, { code: 'new RegExp' }) },
} as const

/** Holds only the meta-schema. It validates the schemas of users, which are never added to it. */
const meta = replaceKeywords(new Ajv2020(OPTIONS))

/**
 * Compiles a JSON Schema, draft 2020-12.
 *
 * Each schema is compiled in its own instance, so an `$id` is invisible to other schemas. The
 * generated code holds names and patterns as values, never as code. `$async` is rejected because it
 * would make every document valid.
 *
 * @throws Failure `invalid` that names the error in the schema.
 */
export function compileSchema(schema: Json): Check {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null)) {
    throw unusableSchema('A schema must be a JSON object, true or false.')
  }
  const validate = compiled(schema)
  return (values, from) => {
    const violations: Violation[] = []
    let count = 0
    values.forEach((value, at) => {
      if (isValid(validate, value)) return
      const room = VIOLATIONS - violations.length
      const prefix = from === undefined ? '' : `/${from + at}`
      const found = toValidationResult(validate.errors ?? [], room, prefix)
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
      const ajv = replaceKeywords(new Ajv2020({ ...OPTIONS, validateSchema: false }))
      return ajv.compile(normalizeSchema(schema))
    }
  } catch (error) {
    throw unusableSchema(`The schema is invalid. ${otherDraft(schema) ?? reasonOf(error)}`)
  }
  if (isValid)
    throw unusableSchema('The schema is invalid. $async is not a keyword of JSON Schema.')
  throw violationFailure(
    'is not a valid JSON Schema (draft 2020-12)',
    toValidationResult(withoutRepetition(meta.errors ?? [])),
  )
}

/** Removes equal errors: the meta-schema consists of several schemas, which report them each. */
function withoutRepetition(errors: readonly ErrorObject[]): ErrorObject[] {
  const distinct = new Map(
    errors.map((error) => [`${error.instancePath} ${error.keyword} ${error.message}`, error]),
  )
  return [...distinct.values()]
}

function isValid(validate: ValidateFunction, value: Json): boolean {
  try {
    return validate(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // Endless recursion of a self-reference.
    throw unusableSchema('Validating this document takes too long.')
  }
}

const DRAFT = 'https://json-schema.org/draft/2020-12/'

/** Returns what is wrong with the `$schema` of a schema; undefined if it names this draft. */
function otherDraft(schema: boolean | object): string | undefined {
  const draft = typeof schema === 'object' && '$schema' in schema ? schema.$schema : DRAFT
  if (typeof draft !== 'string' || draft.startsWith(DRAFT)) return undefined
  return `$schema is ${quoteValue(draft)}. Only draft 2020-12 is supported: omit $schema, or use "${DRAFT}schema".`
}

/** Returns why a schema could not be compiled, for its author. */
function reasonOf(error: unknown): string {
  if (error instanceof MissingRefError) {
    return `The reference ${quoteValue(error.missingRef)} cannot be resolved. External references are not supported.`
  }
  if (error instanceof RangeError) return 'The schema is nested too deeply.'
  return error instanceof Error ? `${error.message.slice(0, 256)}.` : 'It cannot be compiled.'
}

/** Keywords whose value is a schema. */
const SUBSCHEMA: ReadonlySet<string> = new Set([
  ...['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
])
/** Keywords whose value is an array or an object of schemas. */
const SUBSCHEMAS: ReadonlySet<string> = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  ...['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'],
])
/** Keywords whose value has the names of fields, which Ajv ignores if they are `__proto__`. */
const NAMES: ReadonlySet<string> = new Set([
  ...['dependentRequired', 'dependentSchemas', 'patternProperties', 'properties'],
])

type Schema = boolean | object

/**
 * Returns a valid schema in the form that Ajv validates correctly:
 *
 * - without the keyword `nullable`. Ajv applies it, as OpenAPI 3.0 does, but draft 2020-12 does not
 *   know it, and unknown keywords have no effect (JSON Schema Core §6.5).
 * - with `$ref` instead of `$dynamicRef`, which Ajv resolves only to schemas that it has compiled
 *   before. In a schema without embedded schema resources, both have the same target (§8.2.3.2).
 * - with references to `#` instead of the anchors of the root, which Ajv does not find.
 *
 * @throws Error if the schema describes a field named `__proto__`, which Ajv would not check, or if
 * it has both `$dynamicRef` and embedded schema resources.
 */
function normalizeSchema(schema: Schema): Schema {
  let hasResources = false
  let isDynamic = false

  /** @param toRoot the references to anchors of the root; empty in embedded schema resources. */
  const normalize = (schema: Schema, toRoot: ReadonlySet<string>): Schema => {
    if (typeof schema === 'boolean') return schema
    const { nullable: _, $dynamicRef, ...rest } = schema as Record<string, unknown>
    const resolve = (reference: unknown) => (toRoot.has(reference as string) ? '#' : reference)
    const normalizeSubschema = (subschema: Schema): Schema => {
      if (typeof subschema === 'boolean' || !Object.hasOwn(subschema, '$id')) {
        return normalize(subschema, toRoot)
      }
      hasResources = true
      return normalize(subschema, new Set())
    }
    const entries = Object.entries(rest).map(([keyword, value]) => {
      if (NAMES.has(keyword) && Object.hasOwn(value as object, '__proto__')) {
        throw new Error(`${keyword} cannot describe a field named __proto__`)
      }
      if (keyword === '$ref') return [keyword, resolve(value)]
      if (SUBSCHEMA.has(keyword)) return [keyword, normalizeSubschema(value as Schema)]
      return [keyword, SUBSCHEMAS.has(keyword) ? mapValues(value, normalizeSubschema) : value]
    })
    const copy = Object.fromEntries(entries)
    if ($dynamicRef === undefined) return copy
    isDynamic = true
    return { ...copy, allOf: [...(copy.allOf ?? []), { $ref: resolve($dynamicRef) }] }
  }

  const normalized = normalize(schema, referencesToRoot(schema))
  if (isDynamic && hasResources) {
    throw new Error('$dynamicRef is not supported in a schema with an $id in a subschema')
  }
  return normalized
}

function referencesToRoot(schema: Schema): ReadonlySet<string> {
  const { $id = '', $anchor, $dynamicAnchor } = Object(schema)
  const anchors = [$anchor, $dynamicAnchor].filter((anchor) => anchor !== undefined)
  return new Set(anchors.flatMap((anchor) => [`#${anchor}`, `${$id}#${anchor}`]))
}

function mapValues(schemas: unknown, map: (schema: Schema) => Schema): unknown {
  if (Array.isArray(schemas)) return schemas.map(map)
  return Object.fromEntries(
    Object.entries(schemas as object).map(([name, schema]) => [name, map(schema)]),
  )
}

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

/**
 * Returns a valid schema without the keyword `nullable`. Ajv applies it, as OpenAPI 3.0 does, but
 * draft 2020-12 does not know it, and unknown keywords have no effect (JSON Schema Core §6.5).
 *
 * @throws Error if the schema describes a field named `__proto__`, which Ajv would not check.
 */
export function normalizeSchema<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(([keyword]) => keyword !== 'nullable')
  const copy = entries.map(([keyword, value]) => {
    if (NAMES.has(keyword) && Object.hasOwn(value, '__proto__')) {
      throw new Error(`${keyword} cannot describe a field named __proto__`)
    }
    if (SUBSCHEMA.has(keyword)) return [keyword, normalizeSchema(value)]
    return [keyword, SUBSCHEMAS.has(keyword) ? mapValues(value) : value]
  })
  return Object.fromEntries(copy)
}

function mapValues(schemas: unknown): unknown {
  if (Array.isArray(schemas)) return schemas.map(normalizeSchema)
  return Object.fromEntries(
    Object.entries(schemas as object).map(([name, schema]) => [name, normalizeSchema(schema)]),
  )
}

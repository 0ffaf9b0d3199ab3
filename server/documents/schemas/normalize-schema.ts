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

/**
 * Removes the keyword `nullable` from a valid schema and its subschemas. Ajv applies it, as OpenAPI
 * 3.0 does, but draft 2020-12 does not know it, and unknown keywords have no effect (JSON Schema
 * Core §6.5).
 */
export function withoutNullable<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(([keyword]) => keyword !== 'nullable')
  const copy = entries.map(([keyword, value]) => {
    if (SUBSCHEMA.has(keyword)) return [keyword, withoutNullable(value)]
    return [keyword, SUBSCHEMAS.has(keyword) ? mapValues(value) : value]
  })
  return Object.fromEntries(copy)
}

function mapValues(schemas: unknown): unknown {
  if (Array.isArray(schemas)) return schemas.map(withoutNullable)
  return Object.fromEntries(
    Object.entries(schemas as object).map(([name, schema]) => [name, withoutNullable(schema)]),
  )
}

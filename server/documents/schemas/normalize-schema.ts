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
 * Returns a valid schema in the form in which Ajv implements draft 2020-12.
 *
 * - It has no keyword `nullable`. Ajv applies it, as OpenAPI 3.0 does, but draft 2020-12 does not
 *   know it, and unknown keywords have no effect (JSON Schema Core §6.5).
 * - The field `__proto__` is described by patterns, because Ajv ignores it in `properties`.
 */
export function normalizeSchema<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(withoutPrototypeField(schema)).filter(
    ([keyword]) => keyword !== 'nullable',
  )
  const copy = entries.map(([keyword, value]) => {
    if (SUBSCHEMA.has(keyword)) return [keyword, normalizeSchema(value)]
    return [keyword, SUBSCHEMAS.has(keyword) ? mapValues(value) : value]
  })
  return Object.fromEntries(copy)
}

const PROTOTYPE = '__proto__'

/** Moves `__proto__` from the names in `properties` and `patternProperties` to equal patterns. */
function withoutPrototypeField(schema: {
  readonly properties?: object
  readonly patternProperties?: object
}): object {
  const names = Object.entries(schema.properties ?? {})
  const patterns = Object.entries(schema.patternProperties ?? {})
  if (![...names, ...patterns].some(([name]) => name === PROTOTYPE)) return schema
  const [field] = names.filter(([name]) => name === PROTOTYPE)
  return {
    ...schema,
    properties: Object.fromEntries(names.filter(([name]) => name !== PROTOTYPE)),
    patternProperties: Object.fromEntries([
      ...patterns.map(([name, value]) => [name === PROTOTYPE ? `(?:${name})` : name, value]),
      ...(field === undefined ? [] : [[`^(?:${PROTOTYPE})$`, field[1]]]),
    ]),
  }
}

function mapValues(schemas: unknown): unknown {
  if (Array.isArray(schemas)) return schemas.map(normalizeSchema)
  return Object.fromEntries(
    Object.entries(schemas as object).map(([name, schema]) => [name, normalizeSchema(schema)]),
  )
}

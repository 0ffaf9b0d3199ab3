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
export function normalizeSchema(schema: Schema): Schema {
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

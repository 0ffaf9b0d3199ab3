import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ROLES, type Role } from '../contract/access/principal.ts'

/** A JSON Schema of the description. */
export type Schema = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Described {
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

/** The lowest role that may use an operation, or `public`. */
export type Permission = Role | 'public'

/** An operation of the OpenAPI document, with its permissions from `docs/http-api.md`. */
export interface ApiOperation {
  readonly method: string
  /** The path template, such as `/{collection}/{id}`. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Schemas of the request body by media type. */
  readonly body: ReadonlyMap<string, Schema> | undefined
  /** The methods that the path supports. */
  readonly methods: readonly string[]
  readonly bySession: Permission
  readonly byToken: Permission
  /** The described statuses. */
  readonly statuses: readonly number[]
  response(status: number): ApiResponse | undefined
}

/** A described response. */
export interface ApiResponse {
  /** Names of the described headers, in lower case. */
  readonly headers: ReadonlySet<string>
  readonly types: readonly string[]
  /** Returns the violations of the schema of a JSON body, or undefined if there are none. */
  violations(body: unknown): string | undefined
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly security: readonly object[]
            readonly parameters: readonly (Parameter | { readonly $ref: string })[]
            readonly requestBody?: Described
            readonly responses: Readonly<Record<string, Described & { readonly $ref?: string }>>
          }
        >
      >
    >
  >
}

/**
 * Headers that any response can have (docs/http-api.md, "Response headers"), or that belong to the
 * connection. The description omits them.
 */
export const COMMON_HEADERS: ReadonlySet<string> = new Set([
  ...['content-security-policy', 'x-content-type-options', 'cross-origin-opener-policy'],
  ...['cross-origin-resource-policy', 'referrer-policy', 'cache-control', 'content-type'],
  ...['content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding'],
])

/** Parses an OpenAPI document and adds the permissions that `docs/http-api.md` states. */
export function parseDescription(text: string): ApiOperation[] {
  const document = JSON.parse(text) as Document
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(document, 'api')
  const permissions = documentedPermissions()

  /** Follows a reference; returns the object and its JSON Pointer. */
  function follow<T>(value: T | { readonly $ref: string }, pointer: string): [T, string] {
    const ref = (value as { $ref?: string }).$ref
    if (ref === undefined) return [value as T, pointer]
    let found: unknown = document
    for (const key of ref.slice(2).split('/')) found = (found as Record<string, unknown>)[key]
    return [found as T, ref.slice(1)]
  }

  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): ApiOperation => {
      const key = `${method.toUpperCase()} ${path}`
      const permission = permissions.get(key)
      if (permission === undefined) throw new Error(`docs/http-api.md lacks ${key}`)
      const isEmpty = (each: object) => Object.keys(each).length === 0
      const isPublic = operation.security.length === 0 || operation.security.some(isEmpty)
      if ((permission.bySession === 'public') !== isPublic) {
        throw new Error(`docs/http-api.md and the description disagree on who may use ${key}`)
      }
      const responses = new Map(
        Object.entries(operation.responses).map(([status, each]) => {
          const pointer = `/paths/${escapePointer(path)}/${method}/responses/${status}`
          return [Number(status), responseOf(ajv, ...follow<Described>(each, pointer))]
        }),
      )
      const content = operation.requestBody?.content
      return {
        method: method.toUpperCase(),
        path,
        parameters: operation.parameters.map((each) => follow<Parameter>(each, '')[0]),
        body:
          content &&
          new Map(
            Object.entries(content).map(([type, { schema = {} }]) => [type, resolve(schema)]),
          ),
        methods: Object.keys(item).map((each) => each.toUpperCase()),
        ...permission,
        statuses: [...responses.keys()],
        response: (status) => responses.get(status),
      }
    }),
  )

  /** Replaces the references in a schema. */
  function resolve(schema: Schema): Schema {
    const visit = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(visit)
      if (typeof value !== 'object' || value === null) return value
      const [found] = follow<Schema>(value as Schema, '')
      return Object.fromEntries(Object.entries(found).map(([key, each]) => [key, visit(each)]))
    }
    return visit(schema) as Schema
  }
}

const escapePointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

function responseOf(ajv: Ajv2020, { headers, content = {} }: Described, pointer: string) {
  let validate: ValidateFunction | undefined
  return {
    headers: new Set(Object.keys(headers ?? {}).map((name) => name.toLowerCase())),
    types: Object.keys(content),
    violations(body: unknown) {
      if (content['application/json']?.schema === undefined) return undefined
      const schema = `api#${pointer}/content/application~1json/schema`
      validate ??= ajv.compile({ $ref: encodeURI(schema) })
      return validate(body) ? undefined : ajv.errorsText(validate.errors)
    },
  }
}

/** Returns the permissions of the operations, by method and path template. */
function documentedPermissions() {
  const page = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8')
  const found = new Map<string, { bySession: Permission; byToken: Permission }>()
  for (const section of page.split(/^### /m)) {
    const [, method, path] = /^`([A-Z]+) (\/[^`]*)`/.exec(section) ?? []
    if (method === undefined || path === undefined) continue
    const [, role, rest = ''] = /\bRole:\s([a-z]+)([^.]*)\./.exec(section) ?? []
    const bySession = ROLES.find((each) => each === role) ?? 'public'
    // "with a token, admin", "admin for other people, and for every request with a token"
    const byToken = /with a token/.test(rest) ? 'admin' : bySession
    const template = path.replace(/<([a-z]+)>/g, '{$1}')
    // An address or the id of a document can be in the query instead.
    const byQuery = template
      .replace('/{address}', '')
      .replace('/{collection}/{id}', '/{collection}/')
    for (const each of [template, byQuery]) found.set(`${method} ${each}`, { bySession, byToken })
  }
  return found
}

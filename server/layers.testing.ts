import path from 'node:path'
import { parseSync, Visitor } from 'vite'

/** One use of another module by a source file. */
export interface Import {
  /** As it is written; `undefined` where it is computed and cannot be read. */
  readonly specifier: string | undefined
  /** Whether it is gone at run time. */
  readonly typeOnly: boolean
  /** The names that are taken; `*` for all of them, or none of them (for effect). */
  readonly names: readonly string[]
}

/** What {@link checkLayers} needs to know of a source file. */
export interface Reading {
  readonly imports: readonly Import[]
  /** Whether it uses the global `process`. */
  readonly touchesProcess: boolean
}

/** An import that the table does not allow, as a sentence. */
export type Violation = string

const TEST_FILE = /\.(test|testing|global-setup)\.tsx?$/

/** Files that exist for tests: they may import what they test. */
export const isTestFile = (file: string): boolean => TEST_FILE.test(file)

/**
 * Reads every way in which a module can name another: static, for effect, dynamic, type-only,
 * `export … from`, `import('…')` as a type, `import … = require()`, `require()`, `import.meta.glob`
 * and `new URL('…', import.meta.url)`, which bundlers follow for workers.
 *
 * @throws {SyntaxError} when the source cannot be parsed
 */
export function readSource(file: string, source: string): Reading {
  const { program, errors } = parseSync(file, source)
  if (errors[0] !== undefined) throw new SyntaxError(`${file}: ${errors[0].message}`)
  const imports: Import[] = []
  let touchesProcess = false
  const add = (specifier: unknown, typeOnly: boolean, names: readonly string[] = ['*']) =>
    imports.push({
      specifier: typeof specifier === 'string' ? specifier : undefined,
      typeOnly,
      names,
    })

  new Visitor({
    ImportDeclaration(node) {
      const kept = node.specifiers.filter(
        (item) => !(item.type === 'ImportSpecifier' && item.importKind === 'type'),
      )
      const names = node.specifiers.map((item) =>
        item.type === 'ImportSpecifier'
          ? nameOf(item.imported)
          : item.type === 'ImportDefaultSpecifier'
            ? 'default'
            : '*',
      )
      // `import {} from` and `import {type A} from` still run the module: verbatimModuleSyntax.
      const allTypes = node.specifiers.length > 0 && kept.length === 0
      add(
        node.source.value,
        node.importKind === 'type' || allTypes,
        names.length > 0 ? names : ['*'],
      )
    },
    ExportNamedDeclaration(node) {
      if (node.source === null) return
      const typeOnly =
        node.exportKind === 'type' ||
        (node.specifiers.length > 0 && node.specifiers.every((item) => item.exportKind === 'type'))
      add(
        node.source.value,
        typeOnly,
        node.specifiers.map((item) => nameOf(item.local)),
      )
    },
    ExportAllDeclaration(node) {
      add(node.source.value, node.exportKind === 'type')
    },
    ImportExpression(node) {
      add(literal(node.source), false)
    },
    TSImportType(node) {
      add(literal(node.source), true)
    },
    TSExternalModuleReference(node) {
      add(node.expression.value, false)
    },
    CallExpression(node) {
      const { callee } = node
      if (callee.type === 'Identifier' && callee.name === 'require') {
        add(literal(node.arguments[0]), false)
      }
      if (isMember(callee, 'glob') && callee.object.type === 'MetaProperty') add(undefined, false)
    },
    NewExpression(node) {
      const [target, base] = node.arguments
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'URL') return
      if (base !== undefined && isMember(base, 'url') && base.object.type === 'MetaProperty') {
        const value = literal(target)
        if (value !== undefined && /\.tsx?$/.test(value)) add(value, false)
      }
    },
    MemberExpression(node) {
      if (isMember(node, 'process') && node.object.type === 'Identifier') {
        if (['globalThis', 'global'].includes(node.object.name)) touchesProcess = true
      }
    },
  }).visit(program)

  if (imports.some(({ specifier }) => specifier === 'process' || specifier === 'node:process')) {
    touchesProcess = true
  }
  return { imports, touchesProcess: touchesProcess || namesGlobal(program, 'process') }
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** Keys under which an identifier is only a label, not a reference (unless computed). */
const LABELS: Readonly<Record<string, string>> = {
  MemberExpression: 'property',
  Property: 'key',
  MethodDefinition: 'key',
  PropertyDefinition: 'key',
  TSPropertySignature: 'key',
  TSMethodSignature: 'key',
  TSQualifiedName: 'right',
  ImportSpecifier: 'imported',
  ExportSpecifier: 'exported',
  JSXAttribute: 'name',
}

/** Whether a program refers to (or shadows, which would only confuse) a global by this name. */
function namesGlobal(root: unknown, name: string): boolean {
  if (Array.isArray(root)) return root.some((item) => namesGlobal(item, name))
  if (!isNode(root)) return false
  if (root.type === 'Identifier') return root.name === name
  const label = root.computed === true ? undefined : LABELS[root.type]
  return Object.entries(root).some(([key, value]) => key !== label && namesGlobal(value, name))
}

function nameOf(node: { type: string; name?: string; value?: unknown }): string {
  return node.type === 'Literal' ? String(node.value) : (node.name ?? '*')
}

function literal(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis) && node.quasis.length === 1) {
    return node.quasis[0].value.cooked
  }
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
}

function isMember(
  node: unknown,
  property: string,
): node is Node & { object: Node & { name: string } } {
  if (!isNode(node) || node.type !== 'MemberExpression') return false
  const { property: name, computed } = node
  if (!isNode(name)) return false
  return computed === true ? name.value === property : name.name === property
}

/** A kind of file, by its place. */
type Layer =
  | 'main'
  | 'command'
  | 'config'
  | 'start'
  | 'worker'
  | 'app'
  | 'http'
  | 'routes'
  | 'noun'
  | 'oauth2-client'
  | 'storage'
  | 'contract'
  | 'failure'
  | 'web'
  | 'web-ui'
  | 'web-feature'

/**
 * Which layers a layer may import. Imports go one way, from left to right:
 * `main → start → app → <noun>/routes → <noun> → storage`; a command (`endpoint-command.ts`) is a
 * part of main that works on the store beside a running node. A noun's routes and insides may import
 * their own noun only, and a feature of the console itself only: see {@link sameFolder}.
 */
const allowed: Readonly<Record<Layer, readonly Layer[]>> = {
  main: ['command', 'config', 'start', 'app', 'http', 'noun', 'storage', 'contract', 'failure'],
  command: ['config', 'noun', 'storage', 'contract', 'failure'],
  config: ['config', 'http', 'noun', 'contract', 'failure'],
  start: [
    'config',
    'app',
    'http',
    'routes',
    'noun',
    'oauth2-client',
    'storage',
    'contract',
    'failure',
  ],
  worker: ['noun', 'contract', 'failure'],
  app: ['config', 'http', 'routes', 'noun', 'storage', 'contract', 'failure'],
  routes: ['http', 'routes', 'noun', 'oauth2-client', 'contract', 'failure'],
  http: ['http', 'contract', 'failure'],
  noun: ['noun', 'oauth2-client', 'storage', 'contract', 'failure'],
  storage: ['storage', 'contract', 'failure'],
  contract: ['contract', 'failure'],
  failure: [],
  'oauth2-client': [],
  web: ['web', 'web-ui', 'web-feature', 'contract'],
  'web-ui': ['web-ui'],
  'web-feature': ['web', 'web-ui', 'web-feature', 'contract'],
}

/** Layers whose files may import each other only within one folder. */
const sameFolder: readonly Layer[] = ['routes', 'noun', 'web-feature']

/** Files of the console that features may not import, because these import the features. */
const WEB_ROOTS = ['web/main.tsx', 'web/router.tsx']

const topLevel: Readonly<Record<string, Layer>> = {
  'server/main.ts': 'main',
  'server/command-line.ts': 'command',
  'server/config.ts': 'config',
  'server/config-access.ts': 'config',
  'server/settings.ts': 'config',
  'server/start.ts': 'start',
  'server/app.ts': 'app',
  'server/documents/schema-worker.ts': 'worker',
  'server/failure.ts': 'failure',
  'server/oauth2/client.ts': 'oauth2-client',
}

const folders: Readonly<Record<string, Layer>> = {
  'server/contract': 'contract',
  'server/http': 'http',
  'server/storage': 'storage',
  'web/ui': 'web-ui',
  'web/keys': 'web',
}

/** The folder that a file belongs to: `server/endpoints`, `web/ui`; `server` at the top. */
const folderOf = (file: string): string => file.split('/').slice(0, -1).slice(0, 2).join('/')

function layerOf(file: string): Layer | undefined {
  const folder = folderOf(file)
  const known = topLevel[file] ?? folders[folder]
  if (known !== undefined) return known
  if (folder === 'web') return 'web'
  if (folder.startsWith('web/')) return 'web-feature'
  if (/^server\/[a-z]+-command\.ts$/.test(file)) return 'command'
  if (!folder.startsWith('server/')) return undefined
  return /(^|[/-])routes\.ts$/.test(file) ? 'routes' : 'noun'
}

/** Packages that only some layers may know, with the reason. */
const guarded: readonly {
  readonly name: RegExp
  readonly may: (file: string, layer: Layer | undefined) => boolean
  readonly rule: string
}[] = [
  {
    name: /^(hono|hono-openapi|@hono)(\/|$)/,
    may: (file, layer) =>
      layer === 'routes' || layer === 'http' || layer === 'app' || file === 'web/api.ts',
    rule: 'only routes, http and app know Hono',
  },
  {
    name: /^(node:sqlite|pg|pg-.*)(\/|$)/,
    may: (_, layer) => layer === 'storage',
    rule: 'only storage knows the database engines',
  },
]

/**
 * Judges one source file by the table of allowed imports.
 *
 * @param file its path from the root of the repository, with `/`
 * @param source its text
 * @returns what the table does not allow, one sentence each; empty for test files
 */
export function checkLayers(file: string, source: string): Violation[] {
  if (isTestFile(file)) return []
  const layer = layerOf(file)
  if (layer === undefined) return [`${file}: has no place in the table of layers`]
  const { imports, touchesProcess } = readSource(file, source)
  const violations = imports
    .map((item) => judge(file, layer, item))
    .filter((rule) => rule !== undefined)
  if (touchesProcess && file.startsWith('server/') && !['main', 'worker'].includes(layer)) {
    violations.push('touches process: only main and workers do')
  }
  return violations.map((rule) => `${file}: ${rule}`)
}

function judge(file: string, layer: Layer, { specifier, typeOnly, names }: Import) {
  if (specifier === undefined) return 'imports something computed, which nothing can check'
  if (/^[#/]/.test(specifier)) return `imports ${specifier}: paths are relative here`
  if (!specifier.startsWith('.')) return judgePackage(file, layer, specifier)
  const target = path.posix.join(path.posix.dirname(file), specifier.replace(/\?.*$/, ''))
  const what = `imports ${target}`
  if (!/\.[jt]sx?$/.test(target)) {
    // Styles and pictures of the console, package.json: data, not code.
    return /\.\w+$/.test(target) ? undefined : `${what}, which has no ending`
  }
  if (isTestFile(target)) return `${what}, which is for tests`
  const other = layerOf(target)
  if (other === undefined) return `${what}, which has no place in the table of layers`
  return (
    judgeWeb(file, target, typeOnly, names, what) ??
    (allowed[layer].includes(other) || isApiType(file, target)
      ? undefined
      : `${what}: ${layer} may not import ${other}`) ??
    judgeFolder(file, layer, target, other, what) ??
    judgeEngine(file, target, what)
  )
}

const isApiType = (file: string, target: string): boolean =>
  file === 'web/api.ts' && target === 'server/app.ts'

function judgeWeb(
  file: string,
  target: string,
  typeOnly: boolean,
  names: readonly string[],
  what: string,
) {
  if (isApiType(file, target)) {
    return typeOnly && names.join() === 'Api' ? undefined : `${what}: only its type Api`
  }
  if (folderOf(file) !== 'web' && file.startsWith('web/') && WEB_ROOTS.includes(target)) {
    return `${what}, which imports the features`
  }
  return undefined
}

function judgeFolder(file: string, layer: Layer, target: string, other: Layer, what: string) {
  const bound = sameFolder.includes(layer) && sameFolder.includes(other)
  if (!bound || folderOf(file) === folderOf(target)) return undefined
  return layer === 'web-feature'
    ? `${what}: features do not import each other`
    : `${what}: nouns do not import each other, they meet in start or app`
}

/**
 * The engines are chosen in one place: their files are known to that place and to each other, and to
 * backups, which copy between them.
 */
function judgeEngine(file: string, target: string, what: string) {
  const engine = /^server\/storage\/(sqlite|postgres)/.exec(target)?.[0]
  const chooses = file === 'server/storage/open.ts' || file.startsWith('server/storage/backup/')
  if (engine === undefined || chooses || file.startsWith(engine)) return undefined
  return `${what}: only storage/open.ts chooses the engine`
}

function judgePackage(file: string, layer: Layer, name: string) {
  if (layer === 'contract') {
    return name === 'zod/mini' ? undefined : `imports ${name}: contract knows only zod/mini`
  }
  if (file.startsWith('web/') && name.startsWith('node:')) return `imports ${name} in a browser`
  const guard = guarded.find((item) => item.name.test(name))
  return guard === undefined || guard.may(file, layer)
    ? undefined
    : `imports ${name}: ${guard.rule}`
}

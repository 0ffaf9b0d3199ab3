import { readFileSync } from 'node:fs'
import path from 'node:path'
import { check } from 'recheck'
import { parseSync, Visitor } from 'vite'
import { listSources } from './list-sources.ts'
import { root } from './run-command.ts'

// Part of `npm run lint`: `node .ci/regular-expressions.ts` fails if a regular expression of the
// product may take more than linear time.

/** A regular expression in a source file. */
export interface Expression {
  readonly file: string
  readonly line: number
  /** `undefined` for a `RegExp` that is not built from a single string literal. */
  readonly pattern: string | undefined
  readonly flags: string
}

/** Files of the product. Tests are excluded: they process no untrusted input. */
const PRODUCT = /^(?:server|web|bin)\/.*\.(?:ts|tsx|js)$/
const TEST = /\.(?:test|testing|global-setup)\.tsx?$/

/**
 * Files that compute a pattern, with the reason why it is safe. All other patterns must be
 * literals.
 */
const COMPUTED: Readonly<Record<string, string>> = {
  'server/access/secrets/secret-text.ts': 'a fixed length, anchored at both ends',
  'server/cli/config-access.ts': 'one repetition, anchored at both ends, over settings',
  'server/oauth2/client.ts': 'alternatives of escaped text, without repetitions',
  'server/oauth2/providers/provider-failure.ts':
    'alternatives of escaped text, without repetitions',
  'server/documents/schemas/compile-schema.ts':
    'the pattern of a schema, in a worker that is terminated when a check takes too long',
  'server/http/dispatch.ts': 'the pattern of a route, which is written in the source',
}

/** Number of concurrent recheck workers. */
const CONCURRENCY = 4

/** Maximum time of a check, ms: far more than one takes on a busy machine. */
const LIMIT = 120_000

/** Returns every regular expression of a source: literals and calls of `RegExp`. */
export function findExpressions(file: string, source: string): Expression[] {
  const { program, errors } = parseSync(file, source)
  if (errors[0] !== undefined) throw new SyntaxError(`${file}: ${errors[0].message}`)
  const found: Expression[] = []
  const add = (start: number, pattern: string | undefined, flags: string) =>
    found.push({ file, line: source.slice(0, start).split('\n').length, pattern, flags })
  const addCall = ({ start, callee, arguments: [pattern, flags] }: Call) => {
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return
    add(start, textOf(pattern), textOf(flags) ?? '')
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node) add(node.start, node.regex.pattern, node.regex.flags)
    },
    NewExpression: addCall,
    CallExpression: addCall,
  }).visit(program)
  return found
}

interface Part {
  readonly type: string
  readonly name?: string
  readonly value?: unknown
}

interface Call {
  readonly start: number
  readonly callee: Part
  readonly arguments: readonly Part[]
}

const textOf = (part: Part | undefined): string | undefined =>
  part?.type === 'Literal' && typeof part.value === 'string' ? part.value : undefined

/** Returns why an expression is not allowed; undefined if it takes linear time. */
export async function checkExpression({
  file,
  pattern,
  flags,
}: Expression): Promise<string | undefined> {
  if (pattern === undefined) {
    return file in COMPUTED ? undefined : 'is computed: write a literal, or state why it is safe'
  }
  const { status, complexity } = await check(pattern, flags, { timeout: LIMIT })
  if (status === 'safe') return undefined
  return status === 'unknown' ? 'could not be checked' : `takes ${complexity.summary} time`
}

async function run(): Promise<void> {
  const expressions = listSources()
    .filter((file) => PRODUCT.test(file) && !TEST.test(file))
    .flatMap((file) => findExpressions(file, readFileSync(path.join(root, file), 'utf8')))
  let next = 0
  let errors = 0
  const checkSome = async () => {
    for (let one = expressions[next++]; one !== undefined; one = expressions[next++]) {
      const reason = await checkExpression(one)
      if (reason === undefined) continue
      errors++
      const { file, line, pattern = '', flags } = one
      process.stderr.write(`${file}:${line}: /${pattern}/${flags} ${reason}\n`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, checkSome))
  process.stdout.write(`Checked ${expressions.length} regular expressions. ${errors} errors.\n`)
  process.exitCode = errors === 0 ? 0 : 1
}

if (import.meta.main) await run()

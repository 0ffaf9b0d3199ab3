import * as z from 'zod/mini'
import { issueReason } from '../../contract/issue-reason.ts'
import { jsonPointer } from '../../contract/json/json-pointer.ts'
import { Failure } from '../../failure.ts'
import { capitalize } from '../capitalize.ts'

z.config(z.locales.en())

/** Maximum number of issues that a failure reports. */
const MAX_ISSUES = 10

/**
 * Parses the body or the query string of a request with a schema.
 *
 * @param within the path of the value, if it is only a part of the body.
 * @throws Failure `bad-parameter`. Its message names the first invalid fields, `errors` lists them,
 * and `field` is the first one: a JSON Pointer into a body, or the name of a query parameter.
 */
export function validated<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
  whole: 'body' | 'query',
  within: readonly PropertyKey[] = [],
): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.slice(0, MAX_ISSUES)
  const sentences: string[] = []
  const errors = issues.map((issue) => {
    const reason = issueReason(issue)
    const path = [...within, ...issue.path]
    const name = z.core.toDotPath(path)
    sentences.push(name === '' ? capitalize(reason) : `${name}: ${reason}`)
    if (issue.code === 'unrecognized_keys') path.push(...issue.keys.slice(0, 1))
    return { field: whole === 'body' ? jsonPointer(path) : path[0]?.toString(), reason }
  })
  throw new Failure('bad-parameter', `The ${whole} is invalid. ${sentences.join('; ')}.`, {
    field: errors[0]?.field,
    errors,
  })
}

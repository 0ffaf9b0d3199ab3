import { Failure } from '../../failure.ts'

/**
 * Returns the value of a query parameter that a request can have once; undefined if it has none.
 *
 * @param values all values of the parameter in the request.
 * @throws Failure `bad-parameter` if there are several.
 */
export function singleValue(name: string, values: readonly string[]): string | undefined {
  if (values.length <= 1) return values[0]
  throw new Failure('bad-parameter', `${name} is given more than once.`, { field: name })
}

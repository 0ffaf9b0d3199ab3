import * as z from 'zod/mini'
import { Failure } from '../failure.ts'

z.config(z.locales.en())

/**
 * What a schema makes of a value.
 *
 * @param whole what it is called in the message: `body`.
 * @throws Failure `bad-parameter` naming every field that is wrong.
 */
export function validated<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
  whole: string,
): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const faults = result.error.issues.map((issue) => {
    const reason = issue.message.replace(/^Invalid input: /, '')
    const field = z.core.toDotPath(issue.path)
    return field === '' ? `the ${whole}: ${reason}` : `${field}: ${reason}`
  })
  throw new Failure('bad-parameter', `The ${whole} is not as it should be. ${faults.join('; ')}.`)
}

import { printFieldPath } from '../../contract/query/field-path.ts'
import { Failure } from '../../failure.ts'
import { groupConditions, type PlannedQuery } from '../indexes/plan.ts'
import { isIdOrder } from '../query/order.ts'

/** Returns the fields of an index that would serve a query; undefined if none would. */
export function adviseFields({
  conditions,
  sort,
}: Omit<PlannedQuery, 'count'>): string[] | undefined {
  const groups = groupConditions(conditions)
  const fields = [...groups].filter(([, { equal }]) => equal.length > 0).map(([name]) => name)
  const ranged = [...groups].find(([, each]) => each.equal.length === 0 && each.ranges.length > 0)
  const order = sort
    .map(({ path, isDescending }) => ({ name: printFieldPath(path), isDescending }))
    .filter(({ name }) => !fields.includes(name))
  if (ranged !== undefined && order[0]?.name !== ranged[0]) fields.push(ranged[0])
  else if (fields.length > 0 || ranged !== undefined || !isIdOrder(sort))
    fields.push(...order.map(({ name, isDescending }) => (isDescending ? '-' : '') + name))
  return fields.length === 0 ? undefined : [...new Set(fields)]
}

/**
 * Adds to the error of a query that was stopped: the fields of an index that would serve it, and
 * what else helps. Other errors are returned unchanged.
 */
export function withAdvice(
  error: unknown,
  query: Omit<PlannedQuery, 'count'>,
  alternative?: string,
): unknown {
  if (!(error instanceof Failure) || error.code !== 'query-too-expensive') return error
  const fields = adviseFields(query)
  const parts = [
    error.message,
    fields && `An index on ${fields.join(', ')} would serve it.`,
    alternative,
  ].filter((part) => part !== undefined)
  return error.with({ message: parts.join(' '), ...(fields && { fields }) })
}

import { printFieldPath } from '../../contract/field-path.ts'
import { Failure } from '../../failure.ts'
import { groupConditions, type PlannedQuery } from './plan.ts'

/** Returns the fields of an index that would serve a query; undefined if none would. */
export function adviseFields({ filter, sort }: Omit<PlannedQuery, 'count'>): string[] | undefined {
  const conditions = groupConditions(filter)
  const fields = [...conditions].filter(([, { equal }]) => equal.length > 0).map(([name]) => name)
  const ranged = [...conditions].find(
    ([, each]) => each.equal.length === 0 && each.ranges.length > 0,
  )
  const order = sort
    .map(({ path, isDescending }) => ({ name: printFieldPath(path), isDescending }))
    .filter(({ name }) => !fields.includes(name))
  if (ranged !== undefined && order[0]?.name !== ranged[0]) fields.push(ranged[0])
  else fields.push(...order.map(({ name, isDescending }) => (isDescending ? '-' : '') + name))
  return fields.length === 0 ? undefined : [...new Set(fields)]
}

/** Names the fields of an index that would serve a query that was stopped. */
export function withAdvice(failure: Failure, query: Omit<PlannedQuery, 'count'>): Failure {
  const { code, message, details, headers } = failure
  if (code !== 'query-too-expensive') return failure
  const fields = adviseFields(query)
  if (fields === undefined) return failure
  const advice = `An index on ${fields.join(', ')} would serve it.`
  return new Failure(code, `${message} ${advice}`, { ...details, headers, fields })
}

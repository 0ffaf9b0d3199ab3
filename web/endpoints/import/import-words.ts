import { listNames } from '../mapping.ts'
import { sayCount } from '../traffic.ts'
import { countChanges, type ImportPlan } from './import-plan.ts'
import type { ImportRun } from './import-run.ts'

/** "1 endpoint", "1,204 endpoints". */
export const sayMany = (count: number, thing: string): string =>
  `${sayCount(count)} ${thing}${count === 1 ? '' : 's'}`

/** What stands in the file and what of it is to be done. */
export function sayPlan({ changes, unchanged, others }: ImportPlan, remove: boolean): string {
  const { added, changed, removed } = countChanges(changes)
  const parts = [
    added > 0 && `${sayCount(added)} added`,
    changed > 0 && `${sayCount(changed)} changed`,
    removed > 0 && `${sayCount(removed)} removed`,
    unchanged.length > 0 && `${sayCount(unchanged.length)} unchanged`,
  ].filter((part) => part !== false)
  const stay =
    remove || others.length === 0
      ? ''
      : ` ${sayMany(others.length, 'endpoint')} not in the file ${others.length === 1 ? 'stays' : 'stay'}.`
  return `${parts.length === 0 ? 'The file is empty' : listNames(parts)}.${stay}`
}

/** How an import ended, in sentences. */
export function sayEnd(run: ImportRun): string {
  const { changes, made, failures, end } = run
  const total = changes.length
  const left = total - made - failures.size
  const all = made === total
  const first = all
    ? total === 1
      ? 'The change was made.'
      : `All ${sayCount(total)} changes were made.`
    : `${sayCount(made)} of ${sayMany(total, 'change')} ${made === 1 ? 'was' : 'were'} made.`
  const refused =
    failures.size === 0
      ? ''
      : ` ${sayCount(failures.size)} ${failures.size === 1 ? 'was' : 'were'} refused.`
  if (end?.by === 'stop') return `Stopped. ${first}${refused}`
  if (end?.by === 'interruption') return `${end.error.message} ${first}${refused}`
  const held =
    left === 0 || all
      ? ''
      : ` ${sayMany(left, 'endpoint')} ${left === 1 ? 'was' : 'were'} not removed, as something before was refused.`
  return `${first}${refused}${held}`
}

import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { reaches } from '../mapping.ts'
import type { ImportChange } from './import-plan.ts'

/**
 * The order in which changes are made, in groups that wait for each other, so that nobody is cut
 * off half way: what opens ways comes before what closes ways, and the endpoint through which the
 * page came is the last that loses the console.
 *
 * @param here the address of that endpoint, where it is known.
 */
export function orderChanges(
  changes: readonly ImportChange[],
  here: string | undefined,
): ImportChange[][] {
  const groups: ImportChange[][] = [[], [], [], [], []]
  for (const change of changes) groups[rank(change, here)]?.push(change)
  return groups.filter(({ length }) => length > 0)
}

function rank({ kind, address, before, after }: ImportChange, here: string | undefined): number {
  if (kind === 'added') return 0
  const closes = leads(before) && !leads(after)
  if (closes && address === here) return 4
  if (kind === 'removed') return 3
  return closes ? 2 : 1
}

const leads = (mapping: readonly string[] | null) =>
  mapping !== null && reaches(mapping, SYSTEM_DATABASE)

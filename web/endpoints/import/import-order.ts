import { servesConsole } from '../model/admin-access.ts'
import type { ImportChange } from './import-plan.ts'

/**
 * Sorts changes into the order in which the server applies them: additions first, removals last,
 * and the endpoint that serves this page at the very end. No database becomes unreachable in
 * between.
 *
 * @param here the address of the endpoint that serves this page.
 */
export const orderChanges = (changes: readonly ImportChange[], here: string): ImportChange[] =>
  changes.toSorted((a, b) => rank(a, here) - rank(b, here))

function rank({ kind, address, before, after }: ImportChange, here: string): number {
  if (kind === 'added') return 0
  const removesAdminAccess = servesConsole(before) && !servesConsole(after)
  if (removesAdminAccess && address === here) return 4
  if (kind === 'removed') return 3
  return removesAdminAccess ? 2 : 1
}

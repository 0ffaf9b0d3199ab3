import { atLeast, lowerRole, type Role, role } from '../contract/access/principal.ts'
import { Failure } from '../failure.ts'
import { parseColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { Job } from './job.ts'

/**
 * Checks that the person or token that requested a job still has the role that it requires. The
 * databases of a token never change.
 *
 * @param now ms since 1970
 * @throws Failure `forbidden`
 */
export async function requireCallerPermission(
  { db }: Pick<Store, 'db'>,
  { kind, caller }: Pick<Job, 'kind' | 'caller'>,
  now: number,
): Promise<void> {
  const [by = '', id = ''] = caller.split(':', 2)
  if (id === '') return
  const people = db.selectFrom('people').select('people.role as owner_role')
  const row = await (by === 'token'
    ? people
        .innerJoin('tokens', 'tokens.owner_id', 'people.id')
        .select(['tokens.role', 'tokens.expires_at'])
        .where('tokens.id', '=', id)
    : people
        .select(['people.role', (eb) => eb.val(null).as('expires_at')])
        .where('people.id', '=', id)
  ).executeTakeFirst()
  const parsed = (text: string): Role => parseColumn(role, 'role', text)
  const needed = kind === 'list' ? 'viewer' : 'operator'
  if (
    row === undefined ||
    (row.expires_at !== null && row.expires_at <= now) ||
    !atLeast(lowerRole(parsed(row.role), parsed(row.owner_role)), needed)
  ) {
    throw new Failure('forbidden', `The caller no longer has the ${needed} role.`)
  }
}

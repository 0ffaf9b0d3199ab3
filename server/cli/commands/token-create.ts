import { changeRole, ensureOperator } from '../../access/people.ts'
import { fingerprint, openOperatorKey, renewOperatorKey } from '../../access/secret-files.ts'
import { endOperatorSessions } from '../../access/sessions.ts'
import { createToken } from '../../access/tokens.ts'
import { COMMAND_LINE } from '../../audit/record.ts'
import { role as roles } from '../../contract/access/role.ts'
import { tokenInput } from '../../contract/access/token.ts'
import { Failure } from '../../failure.ts'
import { endLocalSignIns } from '../../oauth2/local/local-provider-adapter.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/open.ts'
import type { Config } from '../config.ts'

/**
 * Creates an API token owned by the operator and returns its secret.
 *
 * @throws Failure `bad-parameter` for an invalid role, name or duration.
 */
export async function createTokenByCommand(
  store: Store,
  record: Recorder,
  flags: Readonly<Record<string, string>>,
  now: number,
): Promise<string> {
  const { name, role, databases, expires } = flags
  const input = tokenInput.safeParse({
    name,
    role,
    databases: databases?.split(',').filter((each) => each !== '') ?? null,
    expires: expires === undefined ? null : new Date(now + duration(expires)).toISOString(),
  })
  if (!input.success) {
    const field = String(input.error.issues[0]?.path[0])
    const rule = field === 'role' ? 'viewer, operator or admin' : '1 to 64 characters'
    throw new Failure('bad-parameter', `--${field} must be ${rule}.`)
  }
  const owner = { personId: await ensureOperator(store, now), role: 'admin' } as const
  const deps = { store, record, now: () => now }
  return (await createToken(deps, owner, input.data, COMMAND_LINE)).token
}

const UNITS = { m: 60, h: 3600, d: 86_400, w: 604_800 } as const

/** Parses a duration such as `30d`, `12h`, `15m` or `2w` into ms. */
function duration(text: string): number {
  const [, digits, unit] = /^([1-9][0-9]{0,4})([mhdw])$/.exec(text) ?? []
  if (digits === undefined || unit === undefined) {
    throw new Failure('bad-parameter', '--expires must be a duration, such as 30d, 12h or 2w.')
  }
  return Number(digits) * UNITS[unit as keyof typeof UNITS] * 1000
}

/**
 * Changes the role of the person with a username.
 *
 * @throws Failure `bad-parameter`, `not-found`; `conflict` if several issuers have the username and
 * none is given; and the failures of `changeRole`.
 */
export async function changeRoleByCommand(
  store: Store,
  record: Recorder,
  username: string,
  text: string,
  issuer: string | undefined,
  admins: readonly string[],
): Promise<void> {
  const role = roles.safeParse(text)
  if (!role.success) {
    throw new Failure('bad-parameter', `Unknown role ${JSON.stringify(text)}.`)
  }
  const found = await store.db
    .selectFrom('people')
    .select(['id', 'issuer'])
    .where('username', '=', username)
    .$if(issuer !== undefined, (query) => query.where('issuer', '=', issuer ?? ''))
    .execute()
  const [person, ...others] = found
  if (person === undefined) {
    throw new Failure(
      'not-found',
      `No person with the username ${username} has signed in yet. Use GATEHOUSE_ADMINS to make people admins before their first sign-in.`,
    )
  }
  if (others.length > 0) {
    const issuers = found.map((each) => each.issuer).join(', ')
    throw new Failure(
      'conflict',
      `Several issuers have the username ${username}. Add --issuer with one of ${issuers}.`,
    )
  }
  await changeRole(store, record, person.id, role.data, { admins, actor: COMMAND_LINE })
}

/**
 * Returns the operator key. With `renew`, creates a new key and ends the sessions of the old one.
 *
 * @throws Failure `conflict` if `renew` is set and the key comes from the environment.
 */
export async function operatorKeyByCommand(
  store: Store,
  record: Recorder,
  config: Pick<Config, 'data' | 'operatorKey'>,
  renew: boolean,
): Promise<string> {
  if (!renew) return openOperatorKey(config.data, config.operatorKey).read()
  if (config.operatorKey !== undefined) {
    throw new Failure(
      'conflict',
      'The operator key is set by GATEHOUSE_OPERATOR_KEY. Change the variable and restart the node.',
    )
  }
  const key = renewOperatorKey(config.data)
  await endLocalSignIns(store)
  await endOperatorSessions(store, record, fingerprint(key), COMMAND_LINE)
  return key
}

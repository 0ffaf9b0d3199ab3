import { changeRole, ensureOperator } from './access/people.ts'
import { fingerprint, openOperatorKey, renewOperatorKey } from './access/secret-files.ts'
import { endOperatorSessions } from './access/sessions.ts'
import { createToken } from './access/tokens.ts'
import { COMMAND_LINE } from './audit/record.ts'
import type { Config } from './config.ts'
import { role as roles } from './contract/role.ts'
import { tokenInput } from './contract/token.ts'
import { Failure } from './failure.ts'
import { endLocalSignIns } from './oauth2/local-provider-adapter.ts'
import type { Store } from './storage/open.ts'
import type { Recorder } from './storage/recorder.ts'

/**
 * Makes an API token, owned by the operator, and answers it.
 *
 * @throws Failure `bad-parameter` for a role, a name or a time that there is not.
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
    throw new Failure('bad-parameter', `--${field} takes ${rule}.`)
  }
  const owner = { personId: await ensureOperator(store, now), role: 'admin' } as const
  const deps = { store, record, now: () => now }
  return (await createToken(deps, owner, input.data, COMMAND_LINE)).token
}

const UNITS = { m: 60, h: 3600, d: 86_400, w: 604_800 } as const

/** A length of time such as `30d`, `12h`, `15m` or `2w`, in ms. */
function duration(text: string): number {
  const [, digits, unit] = /^([1-9][0-9]{0,4})([mhdw])$/.exec(text) ?? []
  if (digits === undefined || unit === undefined) {
    throw new Failure('bad-parameter', '--expires takes a length of time, such as 30d, 12h or 2w.')
  }
  return Number(digits) * UNITS[unit as keyof typeof UNITS] * 1000
}

/**
 * Gives the person of a username another role.
 *
 * @throws Failure `bad-parameter`, `not-found`; `conflict` where several issuers know the username
 * and none is named, and for what `changeRole` refuses.
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
    throw new Failure('bad-parameter', `There is no role ${JSON.stringify(text)}.`)
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
      `Nobody has signed in as ${username} yet. GATEHOUSE_ADMINS can name them beforehand.`,
    )
  }
  if (others.length > 0) {
    const issuers = found.map((each) => each.issuer).join(', ')
    throw new Failure('conflict', `Several issuers know ${username}. Add --issuer: ${issuers}.`)
  }
  await changeRole(store, record, person.id, role.data, { admins, actor: COMMAND_LINE })
}

/**
 * Answers the operator key; with `renew` a new one, and ends the sessions of the old one.
 *
 * @throws Failure `conflict` for renewing a key that the environment gives.
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
      'The operator key comes from GATEHOUSE_OPERATOR_KEY. Give another one there, and restart.',
    )
  }
  const key = renewOperatorKey(config.data)
  await endLocalSignIns(store)
  await endOperatorSessions(store, record, fingerprint(key), COMMAND_LINE)
  return key
}

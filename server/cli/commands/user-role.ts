import * as z from 'zod/mini'
import { changeRole } from '../../access/people.ts'
import { openOperatorKey } from '../../access/secrets/secret-files.ts'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { role as roles } from '../../contract/access/principal.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'
import { nameList } from './name-list.ts'

/** What `--databases` is to lift the limit. */
const EVERY_DATABASE = '*'

const input = z.object({
  operands: z.tuple([z.string(), z.string()]),
  options: z.object({ issuer: z.optional(z.string()), databases: z.optional(nameList) }),
})

export const run: RunCommand = async (context) => {
  const {
    operands: [username, role],
    options: { issuer, databases: names },
  } = input.parse(context)
  const { admins, data, databaseUrl, operatorKey: key } = context.config
  // With a database URL, the key is in the environment of the nodes.
  const operatorKey =
    databaseUrl === undefined || key !== undefined ? () => openOperatorKey(data, key) : undefined
  const databases = names?.join() === EVERY_DATABASE ? null : names
  const record = createRecorder()
  await withStore(context.config, (store) =>
    changeRoleByCommand(store, record, username, { role, databases }, issuer, admins, operatorKey),
  )
  return [`${username} is ${role}${databases == null ? '' : ` in ${databases.join(', ')}`}`]
}

/**
 * Changes the role of the person with a username, and the databases that it is limited to. Without
 * `databases`, the limit stays.
 *
 * @throws Failure `bad-parameter`, `not-found`; `conflict` if several issuers have the username and
 * none is given; and the failures of `changeRole`.
 */
export async function changeRoleByCommand(
  store: Store,
  record: Recorder,
  username: string,
  access: { readonly role: string; readonly databases?: string[] | null | undefined },
  issuer: string | undefined,
  admins: readonly string[],
  operatorKey?: () => unknown,
): Promise<void> {
  const role = roles.safeParse(access.role)
  if (!role.success) {
    throw new Failure(
      'bad-parameter',
      `Unknown role ${JSON.stringify(access.role)}. Use none, pending, viewer, editor, operator or admin.`,
    )
  }
  let query = store.db
    .selectFrom('people')
    .select(['id', 'issuer'])
    .where('username', '=', username)
  if (issuer !== undefined) query = query.where('issuer', '=', issuer)
  const found = await query.execute()
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
  const change = { role: role.data, databases: access.databases }
  await changeRole(store, record, person.id, change, { admins, actor: COMMAND_LINE, operatorKey })
}

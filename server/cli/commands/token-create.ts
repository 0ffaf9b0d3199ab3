import * as z from 'zod/mini'
import { ensureOperator } from '../../access/people.ts'
import { createToken } from '../../access/tokens.ts'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { SCOPE_DATABASES } from '../../contract/access/scope.ts'
import { tokenInput } from '../../contract/access/token.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'
import { nameList } from './name-list.ts'

export const run: RunCommand = async ({ config, options }) => [
  await withStore(config, (store) =>
    createTokenByCommand(store, createRecorder(), options, Date.now()),
  ),
]

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400, w: 604_800 }

/** A duration such as `30d`, `12h`, `15m` or `2w`, in ms. */
const duration = z.pipe(
  z.string().check(z.regex(/^[1-9][0-9]{0,4}[mhdw]$/)),
  z.transform((text) => Number(text.slice(0, -1)) * Number(UNITS[text.slice(-1)]) * 1000),
)

const tokenOptions = z.object({
  name: tokenInput.shape.name,
  role: tokenInput.shape.role,
  databases: z.optional(z.pipe(nameList, z.array(z.string()).check(z.maxLength(SCOPE_DATABASES)))),
  expires: z.optional(duration),
})

const RULES: Readonly<Record<string, string>> = {
  name: '1 to 64 characters, not only spaces',
  role: 'viewer, editor, operator or admin',
  databases: 'at most 1,000 names',
  expires: 'a duration, such as 30d, 12h or 2w',
} satisfies Record<keyof typeof tokenOptions.shape, string>

/**
 * Creates an API token owned by the operator and returns its secret.
 *
 * @throws Failure `bad-parameter` for an invalid option.
 */
export async function createTokenByCommand(
  store: Store,
  record: Recorder,
  options: Readonly<Record<string, unknown>>,
  now: number,
): Promise<string> {
  const parsed = tokenOptions.safeParse(options)
  if (!parsed.success) {
    const fields = new Set(parsed.error.issues.map(({ path }) => String(path[0])))
    const errors = [...fields].map((field) => `--${field} must be ${RULES[field]}.`)
    throw new Failure('bad-parameter', errors.join('\n'))
  }
  const { name, role, databases, expires } = parsed.data
  const owner = { personId: await ensureOperator(store, now), role: 'admin' } as const
  const deps = { store, record, now: () => now }
  const input = {
    name,
    role,
    databases: databases ?? null,
    expires: expires === undefined ? null : new Date(now + expires).toISOString(),
  }
  return (await createToken(deps, owner, input, COMMAND_LINE)).token
}

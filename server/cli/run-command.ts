import { invariant } from '../contract/invariant.ts'
import type { CommandContext, RunCommand } from './command.ts'

/** Every command by its words. A command is loaded when it runs: help and version need none. */
const COMMANDS: Readonly<Record<string, () => Promise<{ run: RunCommand }>>> = {
  start: () => import('./commands/start.ts'),
  demo: () => import('./commands/demo.ts'),
  health: () => import('./commands/health.ts'),
  'endpoint list': () => import('./commands/endpoint-list.ts'),
  'endpoint add': () => import('./commands/endpoint-add.ts'),
  'endpoint remove': () => import('./commands/endpoint-remove.ts'),
  'token create': () => import('./commands/token-create.ts'),
  'user role': () => import('./commands/user-role.ts'),
  'operator-key': () => import('./commands/operator-key.ts'),
  'secrets discard': () => import('./commands/secrets-discard.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  'audit verify': () => import('./commands/audit-verify.ts'),
}

/** Loads and carries out a command. Returns the lines to print. */
export async function runCommand(context: CommandContext): Promise<readonly string[]> {
  const load = COMMANDS[context.name]
  invariant(load, `the command ${context.name} has a file`)
  const { run } = await load()
  return run(context)
}

import { Failure } from '../../failure.ts'
import { readHealth } from '../../health/health-socket.ts'
import type { RunCommand } from '../command.ts'

/** Reports that the node is ready, and why it cannot store changes, if so. */
export const run: RunCommand = async ({ config }) => {
  const { ready, reason } = await readHealth(config.data)
  if (!ready) throw new Failure('unavailable', reason ?? 'The node is not ready.')
  return [['The node is ready.', ...(reason === null ? [] : [reason])].join(' ')]
}

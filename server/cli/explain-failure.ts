import { Failure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'

const RESTORE =
  'Check the disk and restore a backup. See "When the disk fails" in docs/operating.md.'

/**
 * Returns the message of a failed command.
 *
 * @throws the error itself if it is not a {@link Failure}.
 */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Failure)) throw error
  return error instanceof DamagedStore ? `${error.message}\n${RESTORE}` : error.message
}

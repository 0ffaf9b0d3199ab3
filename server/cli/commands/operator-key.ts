import * as z from 'zod/mini'
import {
  fingerprint,
  openOperatorKey,
  renewOperatorKey,
} from '../../access/secrets/secret-files.ts'
import { endOperatorSessions } from '../../access/sessions.ts'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { Failure } from '../../failure.ts'
import { endLocalSignIns } from '../../oauth2/local/local-provider-adapter.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import type { Config } from '../config.ts'
import { withStore } from '../with-store.ts'

const input = z.object({ options: z.object({ renew: z._default(z.boolean(), false) }) })

export const run: RunCommand = async (context) => {
  const { renew } = input.parse(context).options
  return [
    await withStore(context.config, (store) =>
      operatorKeyByCommand(store, createRecorder(), context.config, renew),
    ),
  ]
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

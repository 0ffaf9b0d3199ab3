import { discardSecrets } from '../../access/secrets/stored-secrets.ts'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'

export const run: RunCommand = async ({ config }) => {
  await withStore(config, (store) => discardSecrets(store, createRecorder(), COMMAND_LINE))
  return [
    'Deleted the provider tokens, managed providers, certificates and secrets of webhooks. Sessions and API tokens remain valid.',
  ]
}

import type { TokenInfo } from '../../../server/contract/access/token.ts'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { SecretDialog } from '../../shared/secret-dialog.tsx'
import { shellQuote } from '../../ui/text/shell-quote.ts'

/** Shows a new token once, with an example command. */
export function CreatedToken(props: { token: string; info: TokenInfo; onDone: () => void }) {
  const { token, info, onDone } = props
  return (
    <SecretDialog
      title="Token created"
      what="token"
      secret={token}
      example={curlFor(token, info, location)}
      onDone={onDone}
    >
      <p>
        Copy the token <strong>{info.name}</strong> now. It will not be shown again.
      </p>
    </SecretDialog>
  )
}

/** Returns a curl command that the token is allowed to run on this server. */
export function curlFor(
  token: string,
  { databases }: Pick<TokenInfo, 'databases'>,
  { origin }: Pick<Location, 'origin'>,
): string {
  const administers = databases === null || databases.includes(SYSTEM_DATABASE)
  const path = administers ? `${SYSTEM_DATABASE}/_api/endpoint` : `${databases[0]}/`
  const url = shellQuote(`${origin}/_db/${path}`)
  return `curl -H 'Authorization: Bearer ${token}' ${url}`
}

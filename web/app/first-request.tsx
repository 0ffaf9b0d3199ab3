import { useQuery } from '@tanstack/react-query'
import { parseAddress } from '../../server/contract/endpoints/address.ts'
import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import { collectionsQuery } from '../api/queries.ts'
import { tryCommands } from '../endpoints/panel/curl.ts'
import { CopyLine } from '../ui/text/copy-line.tsx'

/** A database with an endpoint that serves it. */
export interface Reached {
  readonly database: string
  readonly endpoint: EndpointRecord
}

/** The command that sends the first request, with the new token if there is one. */
export function FirstRequest(props: Reached & { secret: string | undefined }) {
  const { database, endpoint, secret } = props
  const collections = useQuery(collectionsQuery(database))
  const parsed = parseAddress(endpoint.endpoint)
  if (!parsed.ok || collections.isPending) return null
  // The first command only checks the health.
  const [, command] = tryCommands(
    {
      address: parsed.address,
      mapping: endpoint.databases,
      database,
      collection: collections.data?.[0]?.name,
      mayStore: true,
      isPublic: false,
    },
    location,
  )
  if (command === undefined) return null
  const { label, text } = command
  return (
    <>
      <CopyLine
        label={label}
        text={secret === undefined ? text : text.replace('$TOKEN', secret)}
        name="the command"
      />
      <p className="meta dim" role="status">
        {secret === undefined ? (
          <>
            <code className="mono">$TOKEN</code> is a token for this database.
          </>
        ) : (
          'The command contains the new token, which is not shown again. Waiting for the request…'
        )}
      </p>
    </>
  )
}

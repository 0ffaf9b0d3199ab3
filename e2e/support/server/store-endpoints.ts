import { createRecorder, START } from '../../../server/audit/record.ts'
import { invariant } from '../../../server/contract/invariant.ts'
import { writeEndpoint } from '../../../server/endpoints/registry/endpoint-writer.ts'
import { openStore } from '../../../server/storage/open.ts'

/** First port of these endpoints, which have their own address. */
const FIRST_PORT = 10_000

/**
 * Stores endpoints in the data folder of a stopped server, which opens them at its start. Returns
 * the address of the last one.
 */
export async function storeEndpoints(data: string, count: number): Promise<string> {
  const host = `127.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}.77`
  const addresses = Array.from({ length: count }, (_, at) => `tcp://${host}:${FIRST_PORT + at}`)
  const store = await openStore({ data }, 'tool')
  await Promise.all(
    addresses.map((endpoint) =>
      writeEndpoint(store, { endpoint, databases: [] }, { record: createRecorder(), actor: START }),
    ),
  )
  await store.close()
  const last = addresses.at(-1)
  invariant(last, 'at least one endpoint is stored')
  return last
}

import { createRecorder, START } from '../../server/audit/record.ts'
import { writeEndpoint } from '../../server/endpoints/repository.ts'
import { openStore } from '../../server/storage/open.ts'

/** First port of these endpoints: on an address of their own they meet no others. */
const FIRST_PORT = 10_000

/**
 * Stores that many endpoints in the data folder of a server that is stopped: it opens them at its
 * start. Answers the address of the last.
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
  return addresses.at(-1) ?? ''
}

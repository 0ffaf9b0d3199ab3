import { sendRequest } from '../../../server/test-support/start.testing.ts'
import { FIRST_PORT } from '../../servers/address.ts'
import type { Attack } from '../attack.ts'

const ENDPOINTS = 5_000
const BESIDE = 10

export const attack: Attack = {
  name: 'metrics, lists and OpenAPI with 5,000 endpoints',
  isLong: true,
  async prepare({ host, send, createToken }) {
    const ports = Array.from({ length: ENDPOINTS - 2 }, (_, n) => FIRST_PORT + 2 + n)
    const add = async () => {
      for (let port = ports.pop(); port !== undefined; port = ports.pop()) {
        await send('POST', '/_api/endpoint', { endpoint: `tcp://${host}:${port}`, databases: [] })
        // A listener without requests has no durations in the metrics.
        await sendRequest(port, 'GET', '/_api/health', { host })
      }
    }
    await Promise.all(Array.from({ length: BESIDE }, add))
    const headers = { Authorization: `Bearer ${await createToken('viewer')}` }
    const read = async () => {
      for (let round = 0; round < 5; round++) {
        for (const path of ['metrics', 'listener', 'endpoint', 'openapi.json', 'node']) {
          await send('GET', `/_api/${path}`, undefined, { headers })
        }
      }
    }
    return () => Promise.all(Array.from({ length: BESIDE }, read))
  },
}

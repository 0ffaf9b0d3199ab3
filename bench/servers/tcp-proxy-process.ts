import { startTcpProxy } from '../../server/storage/test-support/tcp-proxy.testing.ts'

// A proxy in a separate process that adds a latency to a port of the loopback interface. Arguments:
// the port, and the added round trip, ms.

const [target, roundTrip] = process.argv.slice(2)
const proxy = await startTcpProxy(Number(target))
proxy.delay(Number(roundTrip))
process.stdout.write(`port ${proxy.port}\n`)

import { startProcess } from './process.ts'

/**
 * Starts a proxy in a process of its own, so that it does not compete with the client of the load.
 *
 * @param roundTrip latency that it adds to each round trip, ms.
 * @returns its port on the loopback interface.
 */
export async function startRemotePort(target: number, roundTrip: number): Promise<number> {
  let port = 0
  const program = new URL('tcp-proxy-process.ts', import.meta.url).pathname
  await startProcess(
    process.execPath,
    [program, String(target), String(roundTrip)],
    process.env,
    async (printed) => {
      port = Number(/^port ([0-9]+)$/m.exec(printed())?.[1] ?? 0)
      return port !== 0
    },
  )
  return port
}

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

export interface ExportRequest {
  readonly host: string
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** The number of lines that the response must have, unless it is compressed. */
  readonly lines: number
}

const { host, port, headers, lines } = workerData as ExportRequest
const begun = performance.now()
const sent = request({ host, port, path: '/imported', headers }).end()
const [response] = (await once(sent, 'response')) as [IncomingMessage]
if (response.statusCode !== 200) throw new Error(`the export answered ${response.statusCode}`)
let read = 0
for await (const chunk of response as AsyncIterable<Buffer>) {
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) read++
}
const isPlain = response.headers['content-encoding'] === undefined
if (isPlain && read !== lines) throw new Error(`${read} lines instead of ${lines}`)
parentPort?.postMessage(performance.now() - begun)

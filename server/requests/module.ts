import { pino } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { RequestEntry } from '../contract/endpoints/request.ts'
import { replaceControlsInJson } from '../control-characters.ts'
import type { HttpEngine } from '../endpoints/listeners/http-engine.ts'
import type { Listener } from '../endpoints/listeners/listener.ts'
import { contextOf } from '../http/dispatch.ts'
import type { RequestView } from '../http/env.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { detach, recordedName, recordedPath, rejectionOf } from './ended-request.ts'
import { createRequestRecorder } from './recorder.ts'
import { requestRoutes } from './routes.ts'

/** Where the access log is written. */
export interface AccessLogOutput {
  /** Writes a line in the background, together with others, or drops it. */
  writeSoon(line: string): void
  /** Number of lines that were dropped. */
  readonly dropped: number
}

export interface RequestsModuleDeps {
  /** The name of this node. */
  readonly node: string
  readonly engine: Pick<HttpEngine<Listener>, 'onEnd'>
  readonly http: Pick<HttpModule, 'clientOf' | 'sendList'>
  readonly metrics: Registry
  readonly requireRole: RequireRole
  /** Undefined: no access log is written. */
  readonly accessLog: AccessLogOutput | undefined
}

/** Creates the recorder of requests, which observes their ends, and its routes. */
export function createRequestsModule(deps: RequestsModuleDeps) {
  const { node, engine, http, metrics, requireRole, accessLog } = deps
  new Counter({
    name: 'gatehouse_access_log_lines_dropped_total',
    help: 'Lines that could not be written to the access log',
    registers: [metrics],
    collect() {
      this.reset()
      this.inc(accessLog?.dropped ?? 0)
    },
  })
  const writeLine = accessLog && createWriteLine(accessLog)
  const recorder = createRequestRecorder({ node, writeLine })

  engine.onEnd((response, listener, milliseconds) => {
    const { statusCode } = response
    // Most requests of most nodes end here.
    if (statusCode < 400 && !recorder.isFollowed) return
    const c = contextOf(response)
    const rejected = rejectionOf(statusCode, c?.error)
    if (rejected === null && !recorder.follows(listener.name)) return
    const { req: request, headersSent } = response
    const principal = c?.get('principal')
    const view: RequestView = c ?? {
      env: { incoming: request, listener },
      req: {
        method: request.method ?? '',
        header: (name) => request.headers[name.toLowerCase()]?.toString(),
      },
    }
    const { address } = http.clientOf(view)
    recorder.record({
      endpoint: listener.name,
      // It may be a part of a header.
      client: address && detach(address),
      method: request.method ?? null,
      path: recordedPath(request),
      status: headersSent ? statusCode : null,
      ms: Math.round(milliseconds * 1_000) / 1_000,
      bytes: response.bodyBytes,
      personId: principal?.personId,
      caller: principal === undefined ? null : recordedName(principal.username),
      token: principal?.tokenName ?? null,
      // The application has not selected one if it rejected the request before.
      database: (c?.get('database') as string | undefined) ?? null,
      rejected,
    })
  })

  return {
    routes: requestRoutes({ recorder, requireRole, sendList: http.sendList }),
    watch: recorder.watch,
    /**
     * Records a connection that an endpoint refused.
     *
     * @param endpoint the canonical address.
     * @param client the IP address; null over a Unix socket.
     * @param rule the rule of the policy.
     */
    recordRefusal(endpoint: string, client: string | null, rule: string): void {
      recorder.record({
        endpoint,
        client,
        method: null,
        path: null,
        status: null,
        ms: null,
        bytes: 0,
        personId: undefined,
        caller: null,
        token: null,
        database: null,
        rejected: rule,
      })
    },
    async [Symbol.asyncDispose]() {},
  }
}

export type RequestsModule = ReturnType<typeof createRequestsModule>

/** Returns a function that writes a request to the access log. */
function createWriteLine(output: AccessLogOutput): (entry: RequestEntry) => void {
  const log = pino(
    {
      base: undefined,
      timestamp: false,
      // Instead of the level: it distinguishes the lines from those of the log.
      formatters: { level: () => ({ log: 'access' }) },
      hooks: { streamWrite: replaceControlsInJson },
    },
    { write: (line) => output.writeSoon(line) },
  )
  return ({ id: _, ...entry }) => log.info(entry)
}

import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { CollectedBytes } from '../../../collected-bytes.ts'
import { otherWork } from '../../../concurrency/turn-share.ts'
import { BODY_PROGRESS, BODY_STALLED } from '../../../contract/request-body.ts'
import { Failure } from '../../../failure.ts'
import type { AppEnv } from '../../env.ts'
import { bodyBudget, formBudget } from './body-budget.ts'
import { gunzip } from './gunzip.ts'

/** Maximum size of a form, bytes. */
const FORM_LIMIT = 16 * 1024

/**
 * Returns whether a body is compressed with gzip, the only supported content coding.
 *
 * @throws Failure `unsupported-media-type` for any other one.
 */
export function isCompressed(c: Context<AppEnv>): boolean {
  const coding = c.req.header('Content-Encoding')
  if (coding === undefined) return false
  // Empty elements of a list are ignored (RFC 9110 §5.6.1).
  const codings = coding.split(',').map((each) => each.trim().toLowerCase())
  const [first, second] = codings.filter((each) => each !== '' && each !== 'identity')
  if (first === undefined) return false
  if (second === undefined && (first === 'gzip' || first === 'x-gzip')) return true
  throw new Failure(
    'unsupported-media-type',
    `The body may be compressed with gzip, but Content-Encoding is ${JSON.stringify(coding.slice(0, 64))}.`,
    { field: 'Content-Encoding', headers: { 'Accept-Encoding': 'gzip' } },
  )
}

/**
 * Rejects a body with a transfer coding other than chunked. Node.js ignores codings before chunked,
 * such as `gzip, chunked`, and does not decode them (RFC 9112 §6.1).
 *
 * @throws Failure `bad-parameter`
 */
function requireChunkedOnly(c: Context<AppEnv>): void {
  const coding = c.req.header('Transfer-Encoding')
  if (coding === undefined || /^chunked$/i.test(coding)) return
  throw new Failure('bad-parameter', 'Only the chunked transfer coding is supported.', {
    field: 'Transfer-Encoding',
  })
}

/**
 * Reads a whole body. Its bytes stay reserved in the process's budget until the response is closed.
 * If the body was not complete when the request was authorized, the caller is authorized again, and
 * the database must not have been dropped.
 *
 * @param maxBytes maximum size, decompressed, bytes.
 * @throws Failure `too-large`; `unavailable` if the budget is exhausted; `timeout` if
 * the body stops making progress; `unauthenticated` or `forbidden` if the caller's access has ended;
 * `database-not-found`;
 * as {@link requireChunkedOnly}, {@link isCompressed} and {@link gunzip}.
 */
export async function readBody(
  c: Context<AppEnv>,
  maxBytes: number,
  budget = bodyBudget,
): Promise<Uint8Array> {
  const arrival = arrivalOf(c)
  const body = await collectBody(c, maxBytes, budget)
  if (isLate(arrival)) {
    // What is done with a body can take milliseconds, and many bodies may end in one turn.
    await otherWork.enter()
    // The body is no longer counted in the budget.
    if (c.env.outgoing?.destroyed) throw clientDisconnected()
    await c.get('authorizeAgain')?.(c)
    c.get('requireSameDatabase')?.()
  }
  return body
}

/** When a body began to be read: the turn of the event loop; undefined if the body was complete. */
type Arrival = object | undefined

const arrivalOf = ({ env: { incoming } }: Context<AppEnv>): Arrival =>
  incoming?.complete === true ? undefined : currentTurn()

/**
 * Returns whether other requests, such as a revocation, can have run since. A small body usually
 * arrives with its head, in the turn in which the request is authorized.
 */
const isLate = (arrival: Arrival) => arrival !== undefined && arrival !== currentTurn()

let turn: object | undefined

/** Returns an object that identifies the current turn of the event loop. */
function currentTurn(): object {
  if (turn === undefined) {
    turn = {}
    setImmediate(endTurn)
  }
  return turn
}

function endTurn(): void {
  turn = undefined
}

function collectBody(
  c: Context<AppEnv>,
  maxBytes: number,
  budget: typeof bodyBudget,
): Promise<Uint8Array> {
  requireChunkedOnly(c)
  const limit = limitOf(c, maxBytes)
  const { incoming, outgoing } = c.env
  const length = Number(c.req.header('Content-Length') ?? limit.bytes)
  if (length > limit.bytes) throw tooLarge(limit)
  if (isCompressed(c)) {
    const release = budget.reserve(limit.bytes)
    releaseWhenClosed(c, release)
    const body = collectAll(limited(gunzip(sentChunks(c)), limit))
    return outgoing === undefined ? body.finally(release) : body
  }
  if (incoming !== undefined) {
    const release = budget.reserve(length)
    releaseWhenClosed(c, release)
    const body = collect(incoming, limit)
    return outgoing === undefined ? body.finally(release) : body
  }
  return c.req.arrayBuffer().then((body) => {
    if (body.byteLength > limit.bytes) throw tooLarge(limit)
    return new Uint8Array(body)
  })
}

/**
 * Calls `release` when the response is closed; at once if the client has disconnected, for example
 * while the request was authenticated, because no `close` follows then.
 */
function releaseWhenClosed({ env: { outgoing } }: Context<AppEnv>, release: () => void): void {
  if (outgoing?.destroyed) release()
  else outgoing?.once('close', release)
}

async function collectAll(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const bytes = new CollectedBytes()
  for await (const chunk of chunks) bytes.add(chunk)
  return bytes.take()
}

// Uses events because an async iterator dominates the cost of a small body.
function collect(incoming: IncomingMessage, limit: BodyLimit): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const bytes = new CollectedBytes()
    const onData = (chunk: Uint8Array) => {
      bytes.add(chunk)
      if (bytes.length > limit.bytes) fail(tooLarge(limit))
    }
    const onEnd = () => {
      stop()
      resolve(bytes.take())
    }
    const fail = (error: Error) => {
      stop()
      reject(error)
    }
    const onClose = () => fail(incoming.errored ?? clientDisconnected())
    const onStalled = () => fail(bodyTimeout())
    const stop = () => {
      incoming
        .off('data', onData)
        .off('end', onEnd)
        .off('error', fail)
        .off('close', onClose)
        .off(BODY_STALLED, onStalled)
    }
    if (incoming.destroyed) {
      onClose()
      return
    }
    incoming
      .on('data', onData)
      .on('end', onEnd)
      .on('error', fail)
      .on('close', onClose)
      .on(BODY_STALLED, onStalled)
  })
}

/** Maximum time between two authorizations of the caller while a body is sent, ms. */
export const AUTHORIZATION_INTERVAL = 1_000

/**
 * Yields a body in chunks as they arrive, while the caller reads them. It reserves a constant number
 * of bytes until the body ends, or the response is closed. The caller is authorized again every
 * {@link AUTHORIZATION_INTERVAL}, and at the end.
 *
 * @param maxBytes maximum size, decompressed, bytes; by default there is none.
 * @throws Failure as {@link readBody}, during iteration, except that the caller has to check in its
 *   transactions that the database still exists.
 */
export async function* bodyChunks(
  c: Context<AppEnv>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  requireChunkedOnly(c)
  const limit = limitOf(c, maxBytes)
  if (Number(c.req.header('Content-Length') ?? 0) > limit.bytes) throw tooLarge(limit)
  const sent = isCompressed(c) ? gunzip(sentChunks(c)) : sentChunks(c)
  const release = bodyBudget.reserveArray()
  // A caller that fails before it reads on does not end the iteration.
  releaseWhenClosed(c, release)
  try {
    yield* authorized(c, limited(sent, limit))
  } finally {
    release()
  }
}

async function* authorized(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const arrival = arrivalOf(c)
  let last = performance.now()
  for await (const chunk of chunks) {
    if (performance.now() - last >= AUTHORIZATION_INTERVAL) {
      await c.get('authorizeAgain')?.(c)
      last = performance.now()
    }
    yield chunk
  }
  if (isLate(arrival)) await c.get('authorizeAgain')?.(c)
}

async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  limit: BodyLimit,
): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > limit.bytes) throw tooLarge(limit)
    yield chunk
  }
}

/** Returns the chunks of a body as they are sent. */
async function* sentChunks(c: Context<AppEnv>): AsyncGenerator<Uint8Array> {
  const { incoming } = c.env
  yield* incoming === undefined ? (c.req.raw.body ?? []) : chunksOf(incoming)
}

async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  let isStalled = false
  let stall = () => {}
  const onStalled = () => {
    isStalled = true
    stall()
  }
  incoming.on(BODY_STALLED, onStalled)
  // The default destroys the connection when the iterator is closed early.
  const chunks: AsyncIterator<Uint8Array> = incoming.iterator({ destroyOnReturn: false })
  try {
    while (!isStalled) {
      // Not `Promise.race` with one promise for all chunks, which would hold every chunk.
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array>>()
      stall = () => reject(bodyTimeout())
      chunks.next().then(resolve, reject)
      const { done, value } = await promise
      if (done) return
      yield value
    }
    throw bodyTimeout()
  } finally {
    incoming.off(BODY_STALLED, onStalled)
    // Not awaited: after a stall it waits for a chunk that may never arrive.
    chunks.return?.().catch(() => {})
  }
}

/**
 * Reads a body as form fields, regardless of its Content-Type.
 *
 * @throws Failure as {@link readBody}
 */
export const readForm = async (c: Context<AppEnv>): Promise<URLSearchParams> =>
  new URLSearchParams(Buffer.from(await readBody(c, FORM_LIMIT, formBudget)).toString('utf8'))

/** The maximum size of a body. */
interface BodyLimit {
  readonly bytes: number
  /** The rule of the endpoint's policy that sets it. */
  readonly rule?: 'maxBodyBytes'
}

/** Returns the size limit of a body, which the policy of the endpoint may lower. */
function limitOf(c: Context<AppEnv>, bytes: number): BodyLimit {
  const { policy } = c.env.listener
  const lower = policy?.maxBodyBytes
  if (lower === undefined || lower >= bytes || !policy?.isLimited(c.req.path)) return { bytes }
  return { bytes: lower, rule: 'maxBodyBytes' }
}

const tooLarge = ({ bytes, rule }: BodyLimit) =>
  new Failure('too-large', `The body is larger than ${sizeOf(bytes)}.`, { ...(rule && { rule }) })

/** The error that Node emits when a connection closes during a body. */
const clientDisconnected = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' })

const bodyTimeout = () =>
  new Failure(
    'timeout',
    `The body arrived too slowly. Send at least ${sizeOf(BODY_PROGRESS.bytes)} every ${BODY_PROGRESS.ms / 1000} seconds.`,
    { headers: { Connection: 'close' } },
  )

function sizeOf(bytes: number): string {
  if (bytes % 2 ** 10 !== 0) return `${bytes.toLocaleString('en')} bytes`
  const unit = bytes % 2 ** 20 === 0 ? 'MiB' : 'KiB'
  return `${Math.floor(bytes / (unit === 'MiB' ? 2 ** 20 : 2 ** 10))} ${unit}`
}

import { expect } from 'vitest'
import { systemCode } from '../../failure.ts'
import type { TestResponse } from '../../test-support/start.testing.ts'

/** Sends a request of a writer to any node. */
export type Call = (method: string, path: string, body?: unknown) => Promise<TestResponse>

/** A client that changes its own documents and tracks their possible states from the responses. */
export interface DocumentWriter {
  /** Makes one change. Calls `tick` before and after. Returns whether there was a response. */
  write(call: Call, tick?: () => void): Promise<boolean>
  /**
   * Compares the stored documents with the possible states: every acknowledged change is stored,
   * arrays are complete, and no document is unknown.
   *
   * @param settled whether changes without a response can no longer take effect.
   */
  check(stored: ReadonlyMap<string, number>, settled: boolean): void
  /** Number of acknowledged changes. */
  readonly acknowledged: number
}

/** Path of the collection that all writers use. */
const PATH = '/endurance'

/** Number of documents in an array. */
const ARRAY = 5

/** The possible states of a document: values of its field `v`, or absent. */
type Possible = ReadonlySet<number | undefined>

/** Matches messages of failures that guarantee that nothing was changed. */
const NOT_KEPT = /Nothing was changed/i

/** Returns a {@link DocumentWriter} whose document ids begin with its name. */
export function createDocumentWriter(
  name: string,
  random: (end: number) => number,
): DocumentWriter {
  const known = new Map<string, Possible>()
  /** Arrays without a response: either all or none of their documents are stored. */
  const arrays = new Set<readonly string[]>()
  let created = 0
  let value = 0
  let acknowledged = 0

  /** Returns a random document that is known to exist; undefined if there is none. */
  function present(): string | undefined {
    const sure = [...known].filter(([, states]) => states.size === 1 && !states.has(undefined))
    return sure[random(Math.max(1, sure.length))]?.[0]
  }

  function choose(): { method: string; path: string; body?: unknown; after: [string, Possible][] } {
    const v = ++value
    const kind = random(6)
    const id = kind < 2 ? present() : undefined
    if (id !== undefined) {
      return kind === 0
        ? { method: 'DELETE', path: `${PATH}/${id}`, after: [[id, new Set([undefined])]] }
        : { method: 'PUT', path: `${PATH}/${id}`, body: { v }, after: [[id, new Set([v])]] }
    }
    const ids = Array.from({ length: kind === 5 ? ARRAY : 1 }, () => `${name}-${created++}`)
    const documents = ids.map((each) => ({ id: each, v }))
    const body = kind === 5 ? documents : documents[0]
    return { method: 'POST', path: PATH, body, after: ids.map((each) => [each, new Set([v])]) }
  }

  return {
    get acknowledged() {
      return acknowledged
    },
    async write(call, tick = () => {}) {
      const { method, path, body, after } = choose()
      const ids = after.map(([id]) => id)
      const before = after.map(([id]) => [id, known.get(id) ?? new Set([undefined])] as const)
      const become = (states: readonly (readonly [string, Possible])[]) => {
        for (const [id, possible] of states) known.set(id, possible)
      }
      become(after.map(([id, states], at) => [id, states.union(before[at]?.[1] ?? new Set())]))
      if (ids.length > 1) arrays.add(ids)
      tick()
      const know = (states: readonly (readonly [string, Possible])[]) => {
        arrays.delete(ids)
        become(states)
      }
      const response = await call(method, path, body).catch((error: unknown) => {
        // No server received the request.
        if (systemCode(error) === 'ECONNREFUSED') know(before)
        return undefined
      })
      if (response === undefined) return false
      const { status, text } = response
      if (status === 200 || status === 201) {
        acknowledged++
        know(after)
      } else {
        expect([503, 507], `${method} ${path} ${text}`).toContain(status)
        if (NOT_KEPT.test(text)) know(before)
      }
      tick()
      return true
    },
    check(stored, settled) {
      const missed: unknown[] = []
      for (const ids of arrays) {
        const there = ids.filter((id) => stored.has(id))
        if (there.length > 0 && there.length < ids.length) missed.push([ids, there])
      }
      for (const [id, states] of known) {
        if (!states.has(stored.get(id))) missed.push([id, [...states], stored.get(id)])
        if (settled) known.set(id, new Set([stored.get(id)]))
      }
      for (const id of stored.keys()) {
        if (id.startsWith(`${name}-`) && !known.has(id)) missed.push([id, 'not sent'])
      }
      if (settled) arrays.clear()
      expect(missed).toEqual([])
    },
  }
}

/** Reads all documents of the writers. Returns the value of `v` by id. */
export async function readAll(call: Call): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let path: string | undefined = `${PATH}?limit=1000`; path !== undefined; ) {
    const { status, json, headers, text }: TestResponse = await call('GET', path)
    expect([status, text]).toEqual([200, text])
    for (const { id, v } of json as { id: string; v: number }[]) found.set(id, v)
    path = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1]
  }
  return found
}

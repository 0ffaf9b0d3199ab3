import { CONNECTIONS } from '../load/rounds.ts'

/** Round trip that the distant node has to PostgreSQL, ms. */
export const LATENCY = 5

/** Number of connections of the larger loads. */
const MANY = 256

/** A load, and whether its node is distant from PostgreSQL. */
interface LoadKind {
  readonly name: string
  readonly connections: number
  readonly isDistant: boolean
}

const load = (name: string, connections = CONNECTIONS): LoadKind => ({
  name,
  connections,
  isDistant: false,
})

const distant = (name: string, connections = CONNECTIONS): LoadKind => ({
  name: `${name}, ${LATENCY} ms to PostgreSQL`,
  connections,
  isDistant: true,
})

export const LOADS = {
  bare: load('bare node:http, constant JSON'),
  plain: load('plain Hono and pg, read by id'),
  read: load('Gatehouse, read by id'),
  farRead: distant('Gatehouse, read by id'),
  page: load('Gatehouse, page of 100'),
  insert: load('Gatehouse, insert'),
  farInsert: distant('Gatehouse, insert'),
  manyReads: load('Gatehouse, read by id', MANY),
  manyFarReads: distant('Gatehouse, read by id', MANY),
  manyInserts: load('Gatehouse, insert', MANY),
  manyFarInserts: distant('Gatehouse, insert', MANY),
} as const satisfies Readonly<Record<string, LoadKind>>
export type Kind = keyof typeof LOADS

/** Rates that are compared, and the ratio wanted. */
export const TARGETS = [
  ['read', 'bare', 0.35],
  ['insert', 'bare', 0.12],
  ['page', 'bare', 0.04],
  ['read', 'plain', 2],
  ['farRead', 'read', 0.5],
  ['farInsert', 'insert', 0.5],
  ['manyFarReads', 'manyReads', 0.5],
  ['manyFarInserts', 'manyInserts', 0.5],
] as const satisfies readonly (readonly [Kind, Kind, number])[]

/** Returns the name of a load, with its number of connections unless that is the usual one. */
export function nameOf(kind: Kind): string {
  const { name, connections } = LOADS[kind]
  return connections === CONNECTIONS ? name : `${name}, ${connections} connections`
}

/**
 * Returns the maximum rate of a load if each request waits for one round trip to PostgreSQL, per
 * second; undefined without latency.
 */
export function boundOf(kind: Kind): number | undefined {
  const { connections, isDistant } = LOADS[kind]
  return isDistant ? (connections / LATENCY) * 1_000 : undefined
}

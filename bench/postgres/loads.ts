import { CONNECTIONS } from '../load/rounds.ts'

/** Latency that is added to each round trip between the remote node and PostgreSQL, ms. */
export const LATENCY = 5

/** Number of connections of the larger loads. */
const MANY = 256

/** A load, and whether its node is remote from PostgreSQL. */
interface LoadKind {
  readonly name: string
  /** Number of round trips to PostgreSQL that a request waits for, one after the other. */
  readonly roundTrips: number
  readonly connections: number
  readonly isRemote: boolean
}

const load = (name: string, roundTrips = 1, connections = CONNECTIONS): LoadKind => ({
  name,
  roundTrips,
  connections,
  isRemote: false,
})

const remote = (near: LoadKind): LoadKind => ({
  ...near,
  name: `${near.name}, ${LATENCY} ms to PostgreSQL`,
  isRemote: true,
})

const PLAIN = load('plain Hono and pg')
const READ = ['read by id', 1] as const
const INSERT = ['insert', 2] as const

export const LOADS = {
  bare: load('bare node:http', 0),
  plain: PLAIN,
  farPlain: remote(PLAIN),
  read: load(...READ),
  farRead: remote(load(...READ)),
  page: load('page of 100'),
  insert: load(...INSERT),
  farInsert: remote(load(...INSERT)),
  manyReads: load(...READ, MANY),
  manyFarReads: remote(load(...READ, MANY)),
  manyInserts: load(...INSERT, MANY),
  manyFarInserts: remote(load(...INSERT, MANY)),
} as const satisfies Readonly<Record<string, LoadKind>>
export type Kind = keyof typeof LOADS

/** Rates that are compared, and the ratio wanted. */
export const RATIOS = [
  ['read', 'bare', 0.35],
  ['insert', 'bare', 0.12],
  ['page', 'bare', 0.04],
  ['read', 'plain', 2],
  ['farRead', 'farPlain', 2],
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
 * Returns the maximum rate of a load whose requests wait for their round trips to PostgreSQL, per
 * second; undefined without latency.
 *
 * @param roundTrip between the remote node and PostgreSQL, ms.
 */
export function boundOf(kind: Kind, roundTrip: number): number | undefined {
  const { roundTrips, connections, isRemote } = LOADS[kind]
  return isRemote ? (connections / (roundTrips * roundTrip)) * 1_000 : undefined
}

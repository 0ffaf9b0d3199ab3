import { SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { listNames, reaches } from './mapping.ts'
import { isWayIn } from './ways-in.ts'

/** What the removal of an endpoint would do. */
export interface Removal {
  /** Why it cannot be removed; then nothing else is said. */
  readonly refused: string | undefined
  /** What happens, sentence by sentence. */
  readonly consequences: readonly string[]
  /** Whether this page came through it. */
  readonly own: boolean
  /** Another endpoint with the console, where `own`. */
  readonly wayOut: string | undefined
}

/** What the removal takes into account. */
export interface RemovalFacts {
  readonly row: EndpointRow
  readonly rows: readonly EndpointRow[]
  /** The names of all databases; empty while they are not known. */
  readonly databases: readonly string[]
  /** The endpoint through which this page came. */
  readonly here: string | undefined
  /** How long open connections are given, in seconds; left unsaid where not known. */
  readonly drainSeconds: number | undefined
}

/** Judges what the removal of an endpoint would do, in sentences. */
export function judgeRemoval({ row, rows, databases, here, drainSeconds }: RemovalFacts): Removal {
  const others = rows.filter(({ id }) => id !== row.id)
  const waysIn = others.filter(isWayIn)
  const own = row.address === here
  if (isWayIn(row) && waysIn.length === 0) {
    return { refused: LAST_WAY_IN, consequences: [], own, wayOut: undefined }
  }
  const mapping = row.databases ?? []
  const stranded = (mapping.length === 0 ? databases : mapping).filter(
    (name) => !others.some((other) => isOpenTo(other, name)),
  )
  return {
    refused: undefined,
    own,
    wayOut: own ? waysIn.find(({ address }) => !address.startsWith('unix:'))?.address : undefined,
    consequences: [
      sayConnections(row, drainSeconds),
      ...(stranded.length > 0 ? [`No other endpoint reaches ${listOr(stranded)}.`] : []),
    ],
  }
}

/** What a change of mapping takes into account. */
export type CutOffFacts = Pick<RemovalFacts, 'row' | 'rows' | 'here'> & {
  /** The mapping as it is to be. */
  readonly after: readonly string[]
}

/** Whom a change of mapping would cut off from the console: oneself, or everybody. */
export function sayCutOff({ row, rows, here, after }: CutOffFacts): string[] {
  if (!reaches(row.databases ?? [], SYSTEM_DATABASE) || reaches(after, SYSTEM_DATABASE)) return []
  const others = rows.filter((other) => other.id !== row.id && isWayIn(other))
  if (isWayIn(row) && others.length === 0) return [LAST_WAY_IN]
  if (row.address !== here) return []
  const way = others.find(({ address }) => !address.startsWith('unix:'))
  return [
    'You are connected through this endpoint. This page will stop working.' +
      (way === undefined ? '' : ` The console is then at ${way.address}.`),
  ]
}

/** Why the last way in stays. */
const LAST_WAY_IN =
  'Nobody could sign in without this endpoint: no other reaches _system. Add one that does first.'

function sayConnections({ state, connections }: EndpointRow, drainSeconds: number | undefined) {
  if (state === 'failed') return 'It is not open, so no connection is cut.'
  const refused = 'New connections are refused at once'
  if (connections === 0) return `${refused}; none is open now.`
  const time = drainSeconds === undefined ? 'time' : `${drainSeconds} s`
  const open = connections === 1 ? 'the open one gets' : `the ${connections} open ones get`
  return `${refused}; ${open} ${time} to finish.`
}

const isOpenTo = ({ databases, state }: EndpointRow, name: string) =>
  databases !== null && (state === 'listening' || state === 'opening') && reaches(databases, name)

/** So many names are told; of more, the rest is counted. */
const TOLD = 8

function listOr(names: readonly string[]): string {
  const more = names.length - TOLD
  if (more > 1) return `${names.slice(0, TOLD).join(', ')} or ${more} more`
  return listNames(names).replace(/ and (?=[^ ]+$)/, ' or ')
}

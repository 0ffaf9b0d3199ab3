/** CPU times of one operation, µs. */
export interface Demand {
  /** At the node that serves the request. */
  readonly node: number
  /** At the database, which all nodes share. */
  readonly database: number
}

/** Cores, and clients that each send the next request after a response. */
export interface Setup {
  readonly nodes: number
  /** Cores of the database. A node uses one. */
  readonly databaseCores: number
  readonly clientsOfNode: number
  /** Time between a response and the next request of a client, µs. */
  readonly thinkTime: number
}

export interface Prediction {
  /** Operations per second, of all nodes. */
  readonly rate: number
  /** Time of a response, ms. */
  readonly response: number
  /** Share of the cores of the database that is in use, 0 to 1. */
  readonly databaseUse: number
}

/** Returns the number of nodes that together keep one core of the database busy. */
export const saturatingNodes = ({ node, database }: Demand): number => node / database

/**
 * Predicts the rate of a closed system of nodes and a database, by exact mean value analysis
 * (Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 27(2),
 * 1980). Nodes are equal stations, each visited by 1 / `nodes` of the operations. A database with
 * several cores is one fast station and a delay (Seidmann, Schweitzer and Shalev-Oren, 1987).
 */
export function predict(demand: Demand, setup: Setup): Prediction {
  const { nodes, databaseCores, clientsOfNode, thinkTime } = setup
  const atNode = demand.node / nodes
  const atDatabase = demand.database / databaseCores
  const delay = thinkTime + demand.database - atDatabase
  let queueOfNode = 0
  let queueOfDatabase = 0
  let rate = 0
  let response = 0
  for (let clients = 1; clients <= nodes * clientsOfNode; clients++) {
    const timeAtNode = atNode * (1 + queueOfNode)
    const timeAtDatabase = atDatabase * (1 + queueOfDatabase)
    response = nodes * timeAtNode + timeAtDatabase + demand.database - atDatabase
    rate = clients / (nodes * timeAtNode + timeAtDatabase + delay)
    queueOfNode = rate * timeAtNode
    queueOfDatabase = rate * timeAtDatabase
  }
  return { rate: rate * 1e6, response: response / 1_000, databaseUse: rate * atDatabase }
}

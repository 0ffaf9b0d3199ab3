import { describe, expect, it } from 'vitest'
import { predict, saturatingNodes } from './shared-database.ts'

/** The rate of the machine repairman model (M/M/1//N), per unit of time. */
function repairman(clients: number, think: number, service: number): number {
  let term = 1
  let sum = 1
  for (let busy = 1; busy <= clients; busy++) {
    term *= (clients - busy + 1) * (service / think)
    sum += term
  }
  return (1 - 1 / sum) / service
}

describe('predict', () => {
  it.each([1, 2, 10, 64])('equals the machine repairman model with %i clients', (clients) => {
    const setup = { nodes: 1, databaseCores: 1, clientsOfNode: clients, thinkTime: 500 }
    const { rate } = predict({ node: 0, database: 40 }, setup)
    expect(rate).toBeCloseTo(repairman(clients, 500, 40) * 1e6, 3)
  })

  it('equals the closed form of two balanced stations', () => {
    const setup = { nodes: 1, databaseCores: 1, clientsOfNode: 9, thinkTime: 0 }
    // N / (N + 1) / service, for N clients.
    expect(predict({ node: 50, database: 50 }, setup).rate).toBeCloseTo((0.9 / 50) * 1e6, 3)
  })

  it('grows with the nodes until the database is saturated, and stays below its capacity', () => {
    const rateOf = (nodes: number) =>
      predict(
        { node: 50, database: 10 },
        { nodes, databaseCores: 2, clientsOfNode: 64, thinkTime: 0 },
      ).rate
    expect(rateOf(2) / rateOf(1)).toBeGreaterThan(1.9)
    expect(rateOf(64) / rateOf(32)).toBeLessThan(1.01)
    expect(rateOf(64)).toBeLessThanOrEqual(200_000)
    expect(rateOf(64)).toBeGreaterThan(190_000)
  })
})

describe('saturatingNodes', () => {
  it('returns the number of nodes beyond which one core of the database limits the rate', () => {
    const demand = { node: 60, database: 5 }
    const nodes = saturatingNodes(demand)
    const useOf = (share: number) =>
      predict(demand, {
        nodes: nodes * share,
        databaseCores: 1,
        clientsOfNode: 64,
        thinkTime: 0,
      }).databaseUse
    expect(useOf(0.5)).toBeGreaterThan(0.49)
    expect(useOf(0.5)).toBeLessThan(0.5)
    expect(useOf(2)).toBeGreaterThan(0.99)
  })
})

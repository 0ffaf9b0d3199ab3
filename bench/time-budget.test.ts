import { describe, expect, it } from 'vitest'
import { withinBudget } from './time-budget.ts'

/** Runs rounds of 10 ms. Returns their numbers. */
function run(max: number, share: number, end: number): number[] {
  let time = 100
  const rounds: number[] = []
  for (const round of withinBudget(max, share, { end, now: () => time })) {
    rounds.push(round)
    time += 10
  }
  return rounds
}

describe('withinBudget', () => {
  it('yields all rounds if they fit', () => {
    expect(run(5, 1, 150)).toEqual([0, 1, 2, 3, 4])
    expect(run(5, 1, Infinity)).toEqual([0, 1, 2, 3, 4])
  })

  it('ends before a round that would exceed the budget', () => {
    expect(run(100, 1, 145)).toEqual([0, 1, 2, 3])
  })

  it('leaves the rest of the budget to other measurements', () => {
    expect(run(100, 0.5, 200)).toHaveLength(5)
  })

  it('yields three rounds if the budget is used up', () => {
    expect(run(100, 1, 0)).toEqual([0, 1, 2])
    expect(run(2, 1, 0)).toEqual([0, 1])
  })
})

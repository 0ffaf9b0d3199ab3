import { describe, expect, it } from 'vitest'
import { ARRAY_BYTES, BODY_BUDGET, BodyBudget, bodyLimit } from './body-budget.ts'

const MIB = 1024 * 1024

describe('BodyBudget', () => {
  it('is an eighth of the heap, within bounds', () => {
    expect(bodyLimit(400 * MIB)).toBe(50 * MIB)
    expect(bodyLimit(10 * MIB)).toBe(BODY_BUDGET.min)
    expect(bodyLimit(64 * 1024 * MIB)).toBe(BODY_BUDGET.max)
  })

  it('rejects bodies beyond the budget until others are released', () => {
    const budget = new BodyBudget(10)
    const release = budget.reserve(4)
    budget.reserve(6)
    expect(() => budget.reserve(1)).toThrow(
      expect.objectContaining({ code: 'unavailable', headers: { 'Retry-After': '5' } }),
    )
    release()
    release()
    expect(budget.held).toBe(6)
    budget.reserve(4)
    expect(() => budget.reserve(1)).toThrow('Try again in 5 s.')
  })

  it('reserves half for bodies other than arrays', () => {
    const budget = new BodyBudget(5 * ARRAY_BYTES)
    const releases = [budget.reserveArray(), budget.reserveArray()]
    expect(() => budget.reserveArray()).toThrow('Try again')
    const release = budget.reserve(3 * ARRAY_BYTES)
    for (const each of releases) each()
    budget.reserveArray()
    release()
    expect(budget.held).toBe(ARRAY_BYTES)
  })
})

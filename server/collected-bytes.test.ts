import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CollectedBytes } from './collected-bytes.ts'

describe('CollectedBytes', () => {
  it('returns the bytes of chunks of any size, in order', () => {
    const size = fc.oneof(fc.nat(3), fc.integer({ min: 1_000, max: 1_050 }), fc.nat(10_000))
    fc.assert(
      fc.property(fc.array(fc.array(size, { maxLength: 30 }), { maxLength: 3 }), (bodies) => {
        const collected = new CollectedBytes()
        let value = 0
        for (const sizes of bodies) {
          const chunks = sizes.map((length) => Buffer.alloc(length, ++value))
          for (const chunk of chunks) collected.add(chunk)
          expect(collected.length).toBe(sizes.reduce((sum, each) => sum + each, 0))
          expect(Buffer.compare(collected.take(), Buffer.concat(chunks))).toBe(0)
          expect(collected.length).toBe(0)
        }
      }),
    )
  })

  it('keeps none of many small chunks', () => {
    const collected = new CollectedBytes()
    collected.add(Buffer.from('-'))
    const chunk = Buffer.from('x')
    for (let n = 0; n < 10_000; n++) collected.add(chunk)
    chunk.fill('y')
    expect(Buffer.from(collected.take()).toString()).toBe(`-${'x'.repeat(10_000)}`)
  })
})

import { describe, expect, it } from 'vitest'
import { acceptedVersion } from './content-negotiation.ts'

describe('acceptedVersion', () => {
  it.each([
    undefined,
    'application/json',
    'application/json; version=1',
    'application/json;Version="1"',
    'application/json; version=2, application/json; version=1; q=0.5',
    'application/json; version=2, application/json; q=0.5',
    'application/json; version=2, */*; q=0.1',
    'application/json; version=2; q=0, application/json',
    'application/xml; version=2, application/*',
    'application/json; profile="a; version=2", application/json',
  ])('accepts %j', (accept) => {
    expect(acceptedVersion(accept)).toBe(1)
  })

  it.each([
    'application/json; version=2',
    'application/json; version=2, text/html',
    'application/json; version=2, application/json; q=0',
    'application/json; version=2, application/json; version=1; q=0',
    'application/json; version=2, */*; version=3',
  ])('rejects %s', (accept) => {
    expect(() => acceptedVersion(accept)).toThrow(
      expect.objectContaining({
        code: 'not-acceptable',
        message: 'Version 2 is not supported. Supported: 1.',
      }),
    )
  })
})

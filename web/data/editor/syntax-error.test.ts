import { describe, expect, test } from 'vitest'
import { documentError, syntaxErrorAt } from './syntax-error.ts'

describe('documentError', () => {
  test('returns the position of a syntax error', () => {
    const text = '{\n  "a": 1\n  "b": 2\n}'
    expect(documentError(text)).toMatch(/^Invalid JSON at line 3, column 3\. \(.+\)$/)
    expect(syntaxErrorAt(text)).toBe(13)
    expect(documentError('{"a": ')).toContain('line 1, column 7')
    expect(documentError('{"a": 1,}')).toContain('line 1, column 9')
    expect(documentError('{} // no')).toContain('line 1, column 4')
  })

  test('requires an object', () => {
    for (const text of ['[]', '"a"', 'null', '1']) {
      expect(documentError(text)).toContain('A document must be a JSON object')
    }
    expect(documentError(' \n')).toContain('Enter a JSON object')
    expect(documentError('{}')).toBeUndefined()
  })
})

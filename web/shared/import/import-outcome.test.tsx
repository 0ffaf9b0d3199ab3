import { expect, test } from 'vitest'
import { formatErrors } from './import-outcome.tsx'

test('The list of errors is CSV', () => {
  expect(formatErrors([{ line: 12, pointer: '/a,b', message: 'must be "x"' }])).toBe(
    'line,pointer,message\r\n12,"/a,b","must be ""x"""\r\n',
  )
})

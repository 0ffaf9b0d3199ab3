import { expect, test } from 'vitest'
import { checkExpression, findExpressions } from './regular-expressions.ts'

test('finds literals and calls of RegExp, with their lines', () => {
  const source = `const a = /0+$/
const b = (text: string) => new RegExp('"(.*)"$', 'u').test(text)
const c = RegExp(\`^\${a}\`)`
  const found = findExpressions('a.ts', source)
  expect(found.map(({ line, pattern, flags }) => [line, pattern, flags])).toEqual([
    [1, '0+$', ''],
    [2, '"(.*)"$', 'u'],
    [3, undefined, ''],
  ])
})

test.each([
  ['0+$', 'takes 2nd degree polynomial time'],
  ['"(.*)"$', 'takes 2nd degree polynomial time'],
  ['^(a+)+$', 'takes exponential time'],
  ['^([A-Za-z]+) +([^ ]+) *$', undefined],
])('finds the complexity of /%s/', async (pattern, reason) => {
  expect(await checkExpression({ file: 'a.ts', line: 1, pattern, flags: '' })).toBe(reason)
})

test('rejects a computed expression in a file that states no reason', async () => {
  const computed = { line: 1, pattern: undefined, flags: '' }
  expect(await checkExpression({ file: 'server/a.ts', ...computed })).toContain('is computed')
  expect(
    await checkExpression({ file: 'server/cli/config-access.ts', ...computed }),
  ).toBeUndefined()
})

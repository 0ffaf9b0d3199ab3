import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createLineConverter, errorAtEnd, toLines } from './json-to-lines.ts'
import { previewSource } from './preview.ts'

/** Converts a text in parts of these sizes, and the rest at once. */
function convertParts(
  text: string,
  sizes: readonly number[],
  { write, end } = createLineConverter(),
): string {
  let [lines, at] = ['', 0]
  for (const size of [...sizes, text.length]) {
    lines += write(text.slice(at, at + size))
    at += size
  }
  return lines + end()
}

test('An array is converted to a line per element, however it is printed and read', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }))
  const space = fc.constantFrom(undefined, 2, '\t')
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), space, sizes, (array, indent, parts) => {
      const lines = convertParts(`\uFEFF ${JSON.stringify(array, null, indent)} \n`, parts)
      expect(lines).toBe(array.map((element) => `${JSON.stringify(element)}\n`).join(''))
    }),
  )
})

test('Objects one after another are converted, however they are printed and read', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }))
  const space = fc.constantFrom(undefined, 2, '\t')
  const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1 })
  fc.assert(
    fc.property(
      objects,
      space,
      fc.constantFrom('', '\n', ', '),
      sizes,
      (all, indent, by, parts) => {
        const text = all.map((each) => JSON.stringify(each, null, indent)).join(by)
        const lines = all.map((each) => `${JSON.stringify(each)}\n`).join('')
        expect(convertParts(text, parts)).toBe(lines)
      },
    ),
  )
})

test('An array without an end is rejected, because its file may be incomplete', async () => {
  const { signal } = new AbortController()
  await expect(toLines(new Blob(['[{"a":1},\n{"a":2}']), signal)).rejects.toThrow('not closed')
  expect(await (await toLines(new Blob(['{\n"a":1\n}\n']), signal)).text()).toBe('{"a":1}\n')
})

test.each(['x', '[{"a":2}]', ',{"a":2}', ']'])(
  'An array that is followed by %j is rejected, because the rest would be lost',
  async (rest) => {
    const { signal } = new AbortController()
    const source = `[{"a":1}]\r\n\t ${rest}`
    await expect(toLines(new Blob([source]), signal)).rejects.toThrow('Text follows the ]')
    const { errors } = previewSource(new TextEncoder().encode(source), {
      format: 'json',
      isWhole: true,
    })
    expect(errors).toEqual(['Text follows the ] that ends the array.'])
  },
)

test.each(['[{"a":1}]x', 'id'])(
  'The rest of a file that begins with %j is not read',
  async (begin) => {
    const source = new Blob([begin, ' '.repeat(3 * 1024 * 1024)])
    const slice = vi.spyOn(source, 'slice')
    await expect(toLines(source, new AbortController().signal)).rejects.toThrow()
    expect(slice).toHaveBeenCalledTimes(1)
  },
)

test('The elements of an array are kept as they are written, with its errors', () => {
  const convert = (text: string) => convertParts(text, [])
  expect(convert('[{"n": 12345678901234567890}, {"n": 1.0}]')).toBe(
    '{"n":12345678901234567890}\n{"n":1.0}\n',
  )
  expect(convert('[{"a": 1},, 7 "b\nc')).toBe('{"a":1}\n7"b\tc\n')
  expect(convert('[{"n": 1 000}, {"a": "b\\\n"}, {}]')).toBe('{"n":1 000}\n{"a":"b\\\t"}\n{}\n')
})

test('Text that is not JSON does not become JSON', () => {
  const tokens = ['1', 'true', '"a"', '"\n"', '"\\\n"', ' ', '\n', '{', '}', '[', ']', ':']
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }))
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 5 }), sizes, (text, parts) => {
      const array = `[${text.join('')}]`
      const converter = createLineConverter()
      const lines = convertParts(array, parts, converter).split('\n').filter(Boolean)
      const isAccepted = errorAtEnd(converter) === undefined && lines.every(isJson)
      expect(isAccepted).toBe(isJson(array))
    }),
    { numRuns: 500 },
  )
})

test('A large array becomes lines, and other text is rejected', async () => {
  const { signal } = new AbortController()
  // Its characters cross the borders of the parts that are read.
  const array = Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'é'.repeat(50) }))
  const lines = await toLines(new Blob([JSON.stringify(array)]), signal)
  expect(await lines.text()).toBe(array.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await expect(toLines(new Blob(['a,b']), signal)).rejects.toThrow('begins with [')
  await expect(toLines(new Blob([]), signal)).rejects.toThrow('begins with [')
  await expect(toLines(new Blob(['[]']), AbortSignal.abort())).rejects.toThrow('abort')
})

test('JSON that is not UTF-8 is rejected, because its characters would be lost', async () => {
  const { signal } = new AbortController()
  const message = 'The file is not UTF-8. Save it as UTF-8.'
  for (const bytes of [[0xfc], [0xc3]]) {
    const source = new Blob(['[{"a":"', new Uint8Array(bytes), '"}]'])
    await expect(toLines(source, signal)).rejects.toThrow(message)
    expect(previewSource(await source.bytes(), { format: 'json', isWhole: true }).errors).toEqual([
      message,
    ])
  }
  const cutOff = new Blob(['[{},"', new Uint8Array([0xc3])])
  await expect(toLines(cutOff, signal)).rejects.toThrow(message)
  // The end of a preview may be within a character.
  expect(previewSource(await cutOff.bytes(), { format: 'json', isWhole: false }).errors).toEqual([])
})

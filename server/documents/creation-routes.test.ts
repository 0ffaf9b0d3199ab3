import { describe, expect, it } from 'vitest'
import { BULK_DOCUMENTS, DOCUMENT_BYTES } from '../contract/document.ts'
import { type CreateBody, createBodyOf, readCreateBody } from './creation-routes.ts'

/** Returns a body that arrives in these pieces, and records whether it was closed. */
function arriving(...pieces: (string | Uint8Array)[]) {
  const body = { closed: false, read: 0, chunks: chunks() }
  async function* chunks() {
    try {
      for (const piece of pieces) {
        body.read++
        yield Buffer.from(piece)
      }
    } finally {
      body.closed = true
    }
  }
  return body
}

async function allOf(body: CreateBody): Promise<(readonly string[])[]> {
  if (!('parts' in body)) throw new Error('no array')
  const all: (readonly string[])[] = []
  for await (const part of body.parts) all.push(part)
  return all
}

const parts = async (...pieces: (string | Uint8Array)[]) =>
  allOf(await readCreateBody(arriving(...pieces).chunks))

describe('readCreateBody', () => {
  it.each([
    [['{"a":[1]}']],
    [[' \r\n\t', '', ' {"a":', '1}']],
    [['"ü'.slice(0, 2), '"']],
    [['1']],
    [['']],
    [[' ']],
  ])('returns the text of a body that is not an array: %j', async (pieces) => {
    expect(await readCreateBody(arriving(...pieces).chunks)).toEqual({ text: pieces.join('') })
  })

  it('returns the elements of an array for any chunk boundaries', async () => {
    expect(await parts(' ', '[{"a":', '1},', '2', '3 , "x]"', ']', ' ')).toEqual([
      ['{"a":1}', '23', '"x]"'],
    ])
    const bytes = Buffer.from('["ü💾"]')
    for (let at = 0; at <= bytes.length; at++) {
      expect(await parts(bytes.subarray(0, at), bytes.subarray(at))).toEqual([['"ü💾"']])
    }
    expect(await parts('[ ]')).toEqual([])
  })

  it('limits parts by number and by bytes without losing elements', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => `{"n":${n}}`)
    const byNumber = await parts(`[${many}]`)
    expect(byNumber.map((part) => part.length)).toEqual([250, 250, 250, 250, 1])
    expect(byNumber.flat()).toEqual(many)
    const long = Array.from({ length: 6 }, (_, n) => `"${String(n).repeat(100_000)}"`)
    const byBytes = await parts(`[${long}]`)
    expect(byBytes.map((part) => part.length)).toEqual([3, 3])
    expect(byBytes.flat()).toEqual(long)
  })

  it('passes on a part before the rest has arrived', async () => {
    const body = arriving(`[${'1,'.repeat(250)}`, '2]')
    const read = await readCreateBody(body.chunks)
    if (!('parts' in read)) throw new Error('no array')
    for await (const part of read.parts) {
      expect([part.length, body.read]).toEqual([250, 1])
      break
    }
    expect(body.closed).toBe(true)
  })

  it.each([
    ['no end', 'bad-json', '', ['[1']],
    ['content after its end', 'bad-json', '', ['[1]', ' 2']],
    ['bytes that are not UTF-8', 'bad-json', '', ['["', Buffer.from([0xff]), '"]']],
    ['a large element', 'too-large', '1 MiB', ['["', 'x'.repeat(DOCUMENT_BYTES), '"]']],
    ['too many elements', 'too-large', '1,000,000', [`[${'1,'.repeat(BULK_DOCUMENTS)}1]`]],
  ] as const)('rejects an array with %s', async (_what, code, limit, pieces) => {
    const body = arriving(...pieces)
    await expect(allOf(await readCreateBody(body.chunks))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(limit),
    })
    expect(body.closed).toBe(true)
  })

  it.each([
    ['a large document', 'too-large', ['{"a":"', 'x'.repeat(DOCUMENT_BYTES), '"}']],
    ['only whitespace', 'too-large', [' '.repeat(DOCUMENT_BYTES), ' ']],
    ['bytes that are not UTF-8', 'bad-json', ['"', Buffer.from([0xff]), '"']],
  ] as const)('rejects %s', async (_what, code, pieces) => {
    const body = arriving(...pieces, 'never read')
    await expect(readCreateBody(body.chunks)).rejects.toMatchObject({ code })
    expect(body.closed).toBe(true)
  })

  it('handles a complete body in the same way', async () => {
    expect(createBodyOf(Buffer.from(' {"a":1}'))).toEqual({ text: ' {"a":1}' })
    expect(await allOf(createBodyOf(Buffer.from(' [1,{"a":2}]')))).toEqual([['1', '{"a":2}']])
    expect(() => createBodyOf(Buffer.from([0xff]))).toThrow('not UTF-8')
  })
})

import { isIPv4, isIPv6 } from 'node:net'
import { posix } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import { formatAddress, parseAddress } from './address.ts'

// Parses a million strings of four kinds: valid spellings, valid spellings with a few characters
// changed, shuffled characters of addresses, and arbitrary text.

vi.setConfig({ testTimeout: 120_000 })

const number = (max: number) => fc.nat({ max }).map(String)
const oneOf = (...texts: string[]) => fc.constantFrom(...texts)

const odd = oneOf('http', 'tcps', 'tcp', 'unix', '')
const scheme = fc.oneof({ weight: 19, arbitrary: oneOf('tcp', 'ssl', 'TCP', 'sSl') }, odd)
const pathScheme = fc.oneof({ weight: 19, arbitrary: oneOf('unix', 'uNIX') }, odd)
const quad = fc
  .tuple(number(255), number(255), number(255), number(255))
  .map((numbers) => numbers.join('.'))
const oddNumber = fc.oneof(
  number(300),
  number(2 ** 32),
  fc.nat({ max: 300 }).map((n) => `0x${n.toString(16)}`),
  fc.nat({ max: 300 }).map((n) => `0${n.toString(8)}`),
)
const oddQuad = fc.array(oddNumber, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'))
const label = fc.string({
  unit: oneOf(...'abzABZ0159-_'),
  minLength: 1,
  maxLength: 12,
})
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const ipv6 = fc.oneof({ weight: 3, arbitrary: fc.ipV6() }, oneOf('fe80::1', 'FEBF::2:3'))
const zone = oneOf('%lo', '%25eth0', '%1')
const host = fc.oneof(
  { weight: 3, arbitrary: quad },
  oddQuad,
  { weight: 2, arbitrary: name },
  { weight: 2, arbitrary: ipv6.map((text) => `[${text}]`) },
  fc.tuple(ipv6, zone).map((parts) => `[${parts.join('')}]`),
  ipv6,
  oneOf('localhost', 'LOCALHOST', '*', '', '[::]', '0.0.0.0', '[::1]'),
)
const port = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 65535 }).map(String) },
  number(99999),
  fc.nat({ max: 65535 }).map((n) => `0${n}`),
  oneOf('', '0', '00', '+1', '-1', '1e3', '0x50', '80 ', '65536', '80.0'),
)
const tail = fc.oneof(
  { weight: 19, arbitrary: fc.constant('') },
  oneOf('/', '/path', '?a=b', '#a', ' ', '\n', ':1', '@', '\\'),
)
const user = fc.oneof(
  { weight: 19, arbitrary: fc.constant('') },
  oneOf('ada@', 'ada:secret@', '@', ':@'),
)
const segment = fc.oneof(
  oneOf('run', 'gatehouse', 'a.sock', '.', '..', '', '...', 'a b', 'ü', '%2e', '?', '*'),
  fc.string({ maxLength: 30 }),
)
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)

const socketAddress = fc
  .tuple(scheme, user, host, port, tail)
  .map(([s, u, h, p, t]) => `${s}://${u}${h}:${p}${t}`)
const pathAddress = fc.tuple(pathScheme, path).map(([s, p]) => `${s}://${p}`)
const plausible = fc.oneof({ weight: 3, arbitrary: socketAddress }, pathAddress)

const anyCharacter = fc.oneof(
  oneOf(...'tcpsluniTCP:/[].0123456789abcdefx%@?#-_*~ \t\n\u0000'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  // Lone surrogates, a full-width digit, the Kelvin sign, a soft hyphen, an ideographic full stop.
  oneOf('\ud800', '\udc00', '１', '\u212A', '\u00AD', '。', 'ß', 'İ'),
)
const change = fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 2 }), anyCharacter)
const mutated = fc
  .tuple(plausible, fc.array(change, { minLength: 1, maxLength: 2 }))
  .map(([text, changes]) =>
    changes.reduce((now, [at, dropped, put]) => {
      const where = now.length === 0 ? 0 : at % (now.length + 1)
      return now.slice(0, where) + put + now.slice(where + dropped)
    }, text),
  )
const jumbled = fc
  .tuple(scheme, fc.array(anyCharacter, { maxLength: 24 }))
  .map(([s, characters]) => `${s}://${characters.join('')}`)
const garbage = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.webUrl(),
  fc.array(anyCharacter, { maxLength: 40 }).map((characters) => characters.join('')),
  fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units)),
)

// Numbers of parsed strings and of accepted addresses.
let read = 0
let accepted = 0

/** Checks one string. Uses plain comparisons: a million calls of `expect` take a minute. */
function holds(text: string): void {
  read++
  const parsed = parseAddress(text)
  if (!parsed.ok) {
    if (!['scheme', 'host', 'port', 'path'].includes(parsed.part) || parsed.message === '') {
      throw new Error('the error names no part, or has no message')
    }
    return
  }
  accepted++
  const { address } = parsed
  const canonical = formatAddress(address)
  const again = parseAddress(canonical)
  if (!again.ok) throw new Error(`its canonical form ${canonical} is refused: ${again.message}`)
  if (formatAddress(again.address) !== canonical) throw new Error('it is printed differently twice')
  if (JSON.stringify(again.address) !== JSON.stringify(address)) {
    throw new Error(`${canonical} is another address`)
  }
  if (address.scheme === 'unix') {
    if (posix.normalize(address.path) !== address.path || address.path.endsWith('/')) {
      throw new Error(`the path ${address.path} is not normalized`)
    }
    if (Buffer.byteLength(address.path) > 107) throw new Error('the path is too long to bind')
    return
  }
  if (!(Number.isInteger(address.port) && address.port >= 1 && address.port <= 65535)) {
    throw new Error(`the port is ${address.port}`)
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  if (/[^\x00-\x7f]/.test(text)) throw new Error('it is not ASCII, its canonical form is')
  const [host = '', zone] = address.host.split('%')
  if (!/^[a-z0-9._:-]+$/.test(host)) throw new Error(`the host is ${address.host}`)
  if (zone !== undefined && !(host.startsWith('fe') && /^[A-Za-z0-9._-]+$/.test(zone))) {
    throw new Error(`the zone is ${zone}`)
  }
  // The WHATWG URL parser accepts the spellings of inet_aton. A host that it reads as an IPv4
  // address must be spelled in canonical form.
  const url = `http://${isIPv6(host) ? `[${host}]` : host}/`
  const seen = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined
  if ((isIPv6(host) || (seen !== undefined && isIPv4(seen))) && seen !== host) {
    throw new Error(`${host} is another spelling of ${seen}`)
  }
}

const forEvery = (texts: fc.Arbitrary<string>, numRuns: number) =>
  fc.assert(fc.property(texts, holds), { numRuns })

test('common addresses round-trip through parse and format', () => {
  forEvery(plausible, 4_000 * CASES)
  // Guards against a generator that produces too few valid addresses.
  expect(accepted).toBeGreaterThan(1_000 * CASES)
})

test('mutated addresses round-trip or are rejected', () => {
  const before = accepted
  forEvery(mutated, 2_500 * CASES)
  expect(accepted - before).toBeGreaterThan(100 * CASES)
})

test('shuffled addresses round-trip or are rejected', () => {
  forEvery(jumbled, 2_000 * CASES)
})

test('other texts are rejected without an exception', () => {
  forEvery(garbage, 1_500 * CASES)
  expect(read).toBe(10_000 * CASES)
})

const upper = (text: string, which: readonly boolean[]) =>
  [...text].map((letter, at) => (which[at % which.length] ? letter.toUpperCase() : letter)).join('')
const letterCases = fc.array(fc.boolean(), { minLength: 1 })
const canonical = (text: string) => {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(`${text} is refused: ${parsed.message}`)
  return formatAddress(parsed.address)
}
const groups = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 0xffff })), {
  minLength: 8,
  maxLength: 8,
})

test('two spellings of an address have one canonical form', () => {
  fc.assert(
    fc.property(groups, fc.integer({ min: 1, max: 65535 }), letterCases, (numbers, at, letters) => {
      const plain = numbers.map((n) => n.toString(16))
      const padded = numbers.map((n) => n.toString(16).padStart(4, '0'))
      const dotted = [numbers[6] ?? 0, numbers[7] ?? 0].flatMap((n) => [n >> 8, n & 255]).join('.')
      const spellings = [
        plain.join(':'),
        padded.join(':'),
        [...plain.slice(0, 6), dotted].join(':'),
        // Compresses the first zero group only, which RFC 5952 does not always do.
        plain.join(':').replace(/(^|:)0(:|$)/, '::'),
      ]
      const forms = spellings.map((text) => canonical(upper(`tcp://[${text}]:${at}`, letters)))
      expect(new Set(forms).size).toBe(1)
    }),
    { numRuns: 1_000 },
  )
  fc.assert(
    fc.property(fc.domain(), letterCases, (domain, letters) => {
      const text = `ssl://${domain}:443`
      expect(canonical(upper(text, letters))).toBe(canonical(text))
    }),
    { numRuns: 1_000 },
  )
  fc.assert(
    fc.property(fc.array(oneOf('/', '/.', '/x/..', '//'), { maxLength: 5 }), (detours) => {
      expect(canonical(`unix://${detours.join('')}/run/a.sock`)).toBe('unix:///run/a.sock')
    }),
    { numRuns: 1_000 },
  )
})

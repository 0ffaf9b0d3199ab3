import { describe, expect, test } from 'vitest'
import { formatAddress, isLoopback, isWildcard, parseAddress } from './address.ts'

const long = (bytes: number) => `/${'s'.repeat(bytes - 1)}`

describe('a valid address', () => {
  test.each([
    ['tcp://127.0.0.1:8529', 'tcp://127.0.0.1:8529'],
    ['TCP://127.0.0.1:8529', 'tcp://127.0.0.1:8529'],
    ['ssl://0.0.0.0:1', 'ssl://0.0.0.0:1'],
    ['tcp://255.255.255.255:65535', 'tcp://255.255.255.255:65535'],
    ['tcp://LocalHost:80', 'tcp://localhost:80'],
    ['tcp://Api.Example.ORG:80', 'tcp://api.example.org:80'],
    ['tcp://xn--bcher-kva.example:80', 'tcp://xn--bcher-kva.example:80'],
    ['tcp://my_service:80', 'tcp://my_service:80'],
    ['tcp://1e3:80', 'tcp://1e3:80'],
    ['tcp://[::1]:8529', 'tcp://[::1]:8529'],
    ['tcp://[0:0:0:0:0:0:0:1]:8529', 'tcp://[::1]:8529'],
    ['tcp://[::]:8529', 'tcp://[::]:8529'],
    ['ssl://[2001:DB8:0:0:1:0:0:1]:443', 'ssl://[2001:db8::1:0:0:1]:443'],
    ['tcp://[2001:0db8::0001]:443', 'tcp://[2001:db8::1]:443'],
    ['tcp://[FE80:0::1%eth0]:8529', 'tcp://[fe80::1%eth0]:8529'],
    ['tcp://[fe80::1%Eth0.1]:8529', 'tcp://[fe80::1%Eth0.1]:8529'],
    ['tcp://[fe80::1%25]:8529', 'tcp://[fe80::1%25]:8529'],
    ['tcp://[::ffff:127.0.0.1]:443', 'tcp://[::ffff:7f00:1]:443'],
    ['unix:///run/gatehouse.sock', 'unix:///run/gatehouse.sock'],
    ['UNIX:///run/Gatehouse.sock', 'unix:///run/Gatehouse.sock'],
    ['unix:////run//./a/../gatehouse.sock', 'unix:///run/gatehouse.sock'],
    ['unix:///../../gatehouse.sock', 'unix:///gatehouse.sock'],
    ['unix:///run/a b/ü?#@:1', 'unix:///run/a b/ü?#@:1'],
    ['unix:///run/...', 'unix:///run/...'],
    [`unix://${long(107)}`, `unix://${long(107)}`],
    [`unix:///x/..${long(107)}`, `unix://${long(107)}`],
  ])('%s is formatted as %s', (text, canonical) => {
    const parsed = parseAddress(text)
    if (!parsed.ok) throw new Error(`${text} was refused: ${parsed.message}`)
    expect(formatAddress(parsed.address)).toBe(canonical)
  })

  test('is parsed into its parts, with the host without brackets', () => {
    expect(parseAddress('ssl://[::1]:443')).toEqual({
      ok: true,
      address: { scheme: 'ssl', host: '::1', port: 443 },
    })
    expect(parseAddress('unix:///run/a.sock')).toEqual({
      ok: true,
      address: { scheme: 'unix', path: '/run/a.sock' },
    })
  })

  test('may have port 0 only if that is allowed', () => {
    expect(parseAddress('tcp://127.0.0.1:0')).toMatchObject({ ok: false, part: 'port' })
    expect(parseAddress('tcp://127.0.0.1:0', { anyPort: true })).toMatchObject({ ok: true })
    expect(parseAddress('tcp://127.0.0.1:00', { anyPort: true })).toMatchObject({ ok: false })
  })
})

describe('an invalid address reports', () => {
  test.each([
    ['scheme', ''],
    ['scheme', '127.0.0.1:8529'],
    ['scheme', 'tcp:127.0.0.1:8529'],
    ['scheme', 'tcp:/127.0.0.1:8529'],
    ['scheme', '//127.0.0.1:8529'],
    ['scheme', ' tcp://127.0.0.1:8529'],
    ['scheme', 'http://127.0.0.1:8529'],
    ['scheme', 'tcp+x://127.0.0.1:8529'],
    ['scheme', 'ｔcp://127.0.0.1:8529'],
    ['scheme', 'constructor://127.0.0.1:8529'],
    ['host', 'tcp://'],
    ['host', 'tcp://:8529'],
    ['host', 'tcp://*:8529'],
    ['host', 'tcp://[::1%lo]:8529'],
    ['host', 'tcp://[fe80::1%]:8529'],
    ['host', 'tcp://[fe80::1%an-interface-name]:8529'],
    ['host', 'tcp://127.0.0.1%lo:8529'],
    ['host', 'tcp://127.1:8529'],
    ['host', 'tcp://0x7f.1:8529'],
    ['host', 'tcp://0X7F.0.0.1:8529'],
    ['host', 'tcp://2130706433:8529'],
    ['host', 'tcp://0x7f000001:8529'],
    ['host', 'tcp://0177.0.0.1:8529'],
    ['host', 'tcp://127.0.0.01:8529'],
    ['host', 'tcp://127.0.0.256:8529'],
    ['host', 'tcp://127.0.0.1.:8529'],
    ['host', 'tcp://1.2.3.4.5:8529'],
    ['host', 'tcp://example.0x1:8529'],
    ['host', 'tcp://example.org.:8529'],
    ['host', 'tcp://-a.example:8529'],
    ['host', 'tcp://a-.example:8529'],
    ['host', 'tcp://a..example:8529'],
    ['host', `tcp://${'a'.repeat(64)}:8529`],
    ['host', `tcp://${'a.'.repeat(127)}a:8529`],
    ['host', 'tcp://bücher.example:8529'],
    ['host', 'tcp://１２７.0.0.1:8529'],
    // KELVIN SIGN, whose lower case is the letter k.
    ['host', 'tcp://\u212A8s:8529'],
    ['host', 'tcp://::1:8529'],
    ['host', 'tcp://[::1:8529'],
    ['host', 'tcp://[]:8529'],
    ['host', 'tcp://[::1%lo]:8529'],
    ['host', 'tcp://[fe80::1%25eth0]:8529'],
    ['host', 'tcp://[::1::]:8529'],
    ['host', 'tcp://[1:2:3:4:5:6:7:8:9]:8529'],
    ['host', 'tcp://[::127.1]:8529'],
    ['host', 'tcp://[127.0.0.1]:8529'],
    ['host', 'tcp://[::1]x:8529'],
    ['host', 'tcp://ada@127.0.0.1:8529'],
    ['host', 'tcp://ada:secret@127.0.0.1:8529'],
    ['host', 'tcp://127.0.0.1:8529/'],
    ['host', 'tcp://127.0.0.1:8529/path'],
    ['host', 'tcp://127.0.0.1:8529?query'],
    ['host', 'tcp://127.0.0.1:8529#fragment'],
    ['host', 'tcp://127.0.0.1:8529\n'],
    ['host', 'tcp://127.0.0.1: 8529'],
    ['host', 'tcp:///run/gatehouse.sock'],
    ['host', `tcp://127.0.0.1:8529${' '.repeat(1_024)}`],
    ['host', `unix:///run${'/..'.repeat(1_024)}/gatehouse.sock`],
    ['host', 'tcp://127.0.0.1:8529:8530'],
    ['port', 'tcp://127.0.0.1'],
    ['port', 'tcp://127.0.0.1:'],
    ['port', 'tcp://[::1]'],
    ['port', 'tcp://127.0.0.1:0'],
    ['port', 'tcp://127.0.0.1:08529'],
    ['port', 'tcp://127.0.0.1:65536'],
    ['port', 'tcp://127.0.0.1:99999999999'],
    ['port', 'tcp://127.0.0.1:-1'],
    ['port', 'tcp://127.0.0.1:+80'],
    ['port', 'tcp://127.0.0.1:8e3'],
    ['port', 'tcp://127.0.0.1:0x50'],
    ['port', 'tcp://127.0.0.1:80.0'],
    ['port', 'tcp://127.0.0.1:http'],
    ['port', 'tcp://127.0.0.1:８０'],
    ['path', 'unix://'],
    ['path', 'unix://run/gatehouse.sock'],
    ['path', 'unix:///'],
    ['path', 'unix:///run/'],
    ['path', 'unix:///run/.'],
    ['path', 'unix:///run/..'],
    ['path', 'unix:///run/a\u0000b'],
    ['path', 'unix:///run/a\u0085b'],
    ['path', 'unix:///run/\u202Ekcos.a'],
    ['path', 'unix:///run/a\u2028b'],
    ['path', 'unix:///run/a\nb'],
    ['path', 'unix:///run/a '],
    ['path', 'unix:///run/\ud800'],
    ['path', `unix://${long(108)}`],
    ['path', `unix:///${'ü'.repeat(54)}`],
  ])('the %s of %j', (part, text) => {
    const parsed = parseAddress(text)
    expect(parsed).toMatchObject({ ok: false, part })
    // The error is a full sentence.
    expect(parsed).toHaveProperty('message', expect.stringMatching(/^.{15,}[.]$/s))
  })
})

const parse = (text: string) => {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.address
}

test.each([
  ['tcp://127.0.0.1:1', true],
  ['ssl://127.255.255.254:1', true],
  ['tcp://[::1]:1', true],
  ['tcp://localhost:1', true],
  ['tcp://a.localhost:1', true],
  ['unix:///run/a.sock', true],
  ['tcp://0.0.0.0:1', false],
  ['tcp://[::]:1', false],
  ['tcp://[::2]:1', false],
  // Neither these names nor the mapped address is guaranteed to be loopback.
  ['tcp://127.example.org:1', false],
  ['tcp://mylocalhost:1', false],
  ['tcp://localhost.example.org:1', false],
  ['tcp://[::ffff:127.0.0.1]:1', false],
  ['tcp://192.168.0.1:1', false],
])('%s is loopback: %s', (text, loopback) => {
  expect(isLoopback(parse(text))).toBe(loopback)
})

test.each([
  ['tcp://0.0.0.0:1', true],
  ['ssl://[::]:1', true],
  ['ssl://[0::0]:1', true],
  ['tcp://127.0.0.1:1', false],
  ['tcp://localhost:1', false],
  ['unix:///0.0.0.0', false],
])('%s is a wildcard: %s', (text, wildcard) => {
  expect(isWildcard(parse(text))).toBe(wildcard)
})

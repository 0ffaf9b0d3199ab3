import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatExport, toExportRecords } from '../export-endpoints.ts'
import { MAX_ENTRIES, readImport } from './import-file.ts'

const errorsOf = (text: string) => {
  const file = readImport(text)
  return file.ok ? [] : file.errors.map(({ where, message }) => `${where}: ${message}`)
}

describe('reading a file to import', () => {
  test('accepts an exported file', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,9}$/)
    const row = fc.record({
      address: fc.integer({ min: 1, max: 65535 }).map((port) => `tcp://127.0.0.1:${port}`),
      databases: fc.uniqueArray(name, { maxLength: 4 }),
    })
    const rows = fc.uniqueArray(row, { selector: ({ address }) => address })
    fc.assert(
      fc.property(rows, (list) => {
        const file = readImport(formatExport(toExportRecords(list)))
        const wanted = toExportRecords(list).map(({ endpoint: address, databases }) => ({
          address,
          databases,
        }))
        expect(file).toEqual({ ok: true, wanted })
      }),
    )
  })

  test('ignores other keys, maps an empty list to all databases and normalizes addresses', () => {
    const text = '[{"endpoint": "TCP://LOCALHOST:8530", "database": ["a"], "more": 1}]'
    expect(readImport(text)).toEqual({
      ok: true,
      wanted: [{ address: 'tcp://localhost:8530', databases: [] }],
    })
  })

  test('reads policies, and reports the errors of their fields', () => {
    const entry = { endpoint: 'tcp://127.0.0.1:1', databases: [] }
    const read = (policy: unknown) => readImport(JSON.stringify([{ ...entry, policy }]))
    const wanted = { address: entry.endpoint, databases: [] }
    expect(read({ readOnly: true })).toEqual({
      ok: true,
      wanted: [{ ...wanted, policy: { readOnly: true } }],
    })
    expect(read(null)).toEqual({ ok: true, wanted: [{ ...wanted, policy: null }] })
    const text = JSON.stringify([{ ...entry, policy: { readonly: true, maxConnections: 0 } }])
    expect(errorsOf(text)).toEqual([
      expect.stringMatching(/^Entry 1, line 1: “policy.maxConnections”: /),
      expect.stringMatching(/^Entry 1, line 1: “policy”: .* the nearest is readOnly\.$/),
    ])
  })

  test('reports all errors with their positions', () => {
    const text = [
      '[',
      '  {"endpoint": "tcp://127.0.0.1", "databases": ["a", "a", "9"]},',
      '  {"databases": null},',
      '  {"endpoint": 8530},',
      '  "tcp://127.0.0.1:8530",',
      '  {"endpoint": "tcp://127.0.0.1:8531"},',
      '  {"endpoint": "TCP://127.0.0.1:8531", "databases": "shop"}',
      ']',
    ].join('\n')
    expect(errorsOf(text)).toEqual([
      'Entry 1, line 2: "tcp://127.0.0.1": The port is missing. Add one, as in tcp://127.0.0.1:8530.',
      'Entry 1, line 2: “databases” contains a twice.',
      expect.stringMatching(/^Entry 1, line 2: "9" is not a valid database name/),
      'Entry 2, line 3: “endpoint” is missing.',
      'Entry 2, line 3: “databases” must be an array of names. An empty array means all databases.',
      'Entry 3, line 4: “endpoint” must be a string, such as tcp://127.0.0.1:8530.',
      'Entry 4, line 5: An entry must be an object: { "endpoint": …, "databases": […] }.',
      'Entry 6, line 7: “databases” must be an array of names. An empty array means all databases.',
      'Entry 6, line 7: tcp://127.0.0.1:8531 is already in entry 5, line 6.',
    ])
  })

  test('reports the position of invalid JSON', () => {
    expect(errorsOf('[\n  {"endpoint": tcp}\n]')).toEqual([
      'Line 2, column 16: Invalid value. Strings and keys need double quotes.',
    ])
  })

  test('limits the number of endpoints', () => {
    const list = (length: number) =>
      formatExport(
        Array.from({ length }, (_, index) => ({
          endpoint: `tcp://10.0.${index >> 8}.${index & 255}:8530`,
          databases: [],
        })),
      )
    expect(readImport(list(MAX_ENTRIES)).ok).toBe(true)
    expect(errorsOf(list(MAX_ENTRIES + 1))).toEqual([
      'The list: Too many endpoints: 10,001. The maximum is 10,000.',
    ])
  })

  test('rejects a mapping of more than 1,000 names', () => {
    const list = (length: number) =>
      formatExport([
        {
          endpoint: 'tcp://10.0.0.1:8530',
          databases: Array.from({ length }, (_, index) => `n${index}`),
        },
      ])
    expect(readImport(list(1_000)).ok).toBe(true)
    expect(errorsOf(list(1_001))[0]).toContain('“databases” has 1,001 names. The maximum is 1,000.')
  })

  test('never throws', () => {
    const json = fc.array(fc.oneof(fc.jsonValue(), fc.record({ endpoint: fc.string() })))
    fc.assert(fc.property(json, (value) => void readImport(JSON.stringify(value))))
    fc.assert(fc.property(fc.string(), (text) => void readImport(text)))
  })
})

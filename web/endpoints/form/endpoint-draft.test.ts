import { describe, expect, test } from 'vitest'
import {
  addressErrors,
  canonicalAddress,
  draftMapping,
  duplicateEndpoint,
  emptyDraft,
  endpointSchema,
  isOpenToReaders,
  isReachedByOthers,
  mappingErrors,
  nameError,
} from './endpoint-draft.ts'

const taken = ['tcp://127.0.0.1:8529', 'unix:///run/a.sock']
const errorsOf = (change: Partial<typeof emptyDraft>) =>
  addressErrors({ ...emptyDraft, port: '8530', ...change }, taken)

describe('an address error is shown at its field', () => {
  test.each([
    [{}, []],
    [{ port: '' }, ['port']],
    [{ port: '0' }, ['port']],
    [{ port: '8530x' }, ['port']],
    [{ port: '8529' }, ['port']],
    [{ host: '' }, ['host']],
    [{ host: '10.0.0' }, ['host']],
    [{ host: 'a/b' }, ['host']],
    [{ host: '[::1]' }, []],
    [{ host: '::1' }, []],
    [{ host: ' fe80::1%eth0 ' }, []],
    [{ host: 'tcp://127.0.0.1:8529' }, ['port']],
    [{ host: 'ssl://127.0.0.1:8529' }, []],
    [{ scheme: 'unix', path: 'run/a' }, ['path']],
    [{ scheme: 'unix', path: '/run/./a.sock' }, ['path']],
    [{ scheme: 'unix', path: '/run/b.sock' }, []],
  ] as const)('%j', (change, fields) => {
    expect(Object.keys(errorsOf(change))).toEqual(fields)
  })
})

test('an ssl endpoint needs a certificate, unless there is one for all', () => {
  const draft = { ...emptyDraft, scheme: 'ssl', port: '8443', reach: 'all' } as const
  const errorsOfForm = (change: object, hasDefault: boolean) =>
    endpointSchema([], hasDefault)
      .safeParse({ ...draft, ...change })
      .error?.issues.map(({ path }) => path)
  expect(errorsOfForm({}, false)).toEqual([['certificates']])
  expect(errorsOfForm({}, true)).toBeUndefined()
  expect(errorsOfForm({ certificates: ['web'] }, false)).toBeUndefined()
  expect(errorsOfForm({ scheme: 'tcp' }, false)).toBeUndefined()
})

test('an existing address is recognized in any notation', () => {
  const draft = { ...emptyDraft, host: ' LOCALHOST ', port: '8530' }
  expect(canonicalAddress(draft)).toBe('tcp://localhost:8530')
  expect(addressErrors(draft, ['tcp://localhost:8530'])).toHaveProperty('port')
})

test('removing the last name never maps all databases', () => {
  expect(mappingErrors({ ...emptyDraft, reach: 'only', names: [] })).toHaveProperty('databases')
  expect(mappingErrors({ ...emptyDraft, reach: 'all', names: [] })).toEqual({})
  expect(draftMapping({ ...emptyDraft, reach: 'all', names: ['blog'] })).toEqual([])
})

test('an empty, invalid or duplicate name is rejected', () => {
  expect(nameError('', [])).toBeDefined()
  expect(nameError('1blog', [])).toBeDefined()
  expect(nameError('blog', ['blog'])).toBe('blog is already in the list.')
  expect(nameError('_system', ['blog'])).toBeUndefined()
})

test('a mapping has at most 1,000 names', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`)
  expect(nameError('blog', names.slice(1))).toBeUndefined()
  expect(nameError('blog', names)).toBe('A mapping names at most 1,000 databases.')
})

test('a typed name that was not added is reported', () => {
  const draft = { ...emptyDraft, reach: 'only' as const, names: ['blog'], typing: ' shop ' }
  expect(mappingErrors(draft).databases).toContain('shop is not in the list yet.')
  expect(mappingErrors({ ...draft, typing: ' ' })).toEqual({})
  expect(mappingErrors({ ...draft, reach: 'all' })).toEqual({})
})

describe('a duplicate of an endpoint', () => {
  const like = (endpoint: string, others: string[] = []) =>
    duplicateEndpoint({ endpoint, databases: ['blog', 'shop'] }, [endpoint, ...others])

  test('has its scheme, host and mapping', () => {
    const draft = like('ssl://[::1]:8530')
    expect(draft).toMatchObject({ scheme: 'ssl', host: '[::1]', port: '8531' })
    expect(draftMapping(draft)).toEqual(['blog', 'shop'])
    expect(addressErrors(draft, ['ssl://[::1]:8530'])).toEqual({})
  })

  test('has the next free port, if there is one', () => {
    expect(like('tcp://127.0.0.1:8530', ['tcp://0.0.0.0:8531', 'ssl://[::]:8532']).port).toBe(
      '8533',
    )
    expect(like('tcp://127.0.0.1:65535').port).toBe('')
  })

  test('has its path', () => {
    const draft = like('unix:///run/a.sock')
    expect(draft.path).toBe('/run/a.sock')
    expect(addressErrors(draft, ['unix:///run/a.sock'])).toHaveProperty('path')
  })
})

test('an ssl address that is not loopback is encrypted and reached by others', () => {
  const draft = { ...emptyDraft, scheme: 'ssl' as const, host: '0.0.0.0' }
  expect(isOpenToReaders(draft)).toBe(false)
  expect(isReachedByOthers(draft)).toBe(true)
  expect(isReachedByOthers({ ...draft, scheme: 'unix', path: '/run/a.sock' })).toBe(false)
  expect(isReachedByOthers({ ...draft, host: '127.0.0.1' })).toBe(false)
})

test.each([
  [{}, false],
  [{ host: 'LOCALHOST' }, false],
  [{ host: '127.8.9.1' }, false],
  [{ host: '[::1]' }, false],
  [{ host: '0.0.0.0' }, true],
  [{ host: '[::]' }, true],
  [{ host: 'db.example.com', port: '' }, true],
  [{ host: 'db.example.com', scheme: 'ssl' }, false],
  [{ host: '' }, false],
  [{ scheme: 'unix', host: '0.0.0.0', path: '/run/a.sock' }, false],
] as const)('%j is unencrypted and reachable by others: %j', (change, open) => {
  expect(isOpenToReaders({ ...emptyDraft, ...change })).toBe(open)
})

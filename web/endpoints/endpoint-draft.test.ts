import { describe, expect, test } from 'vitest'
import {
  addressFaults,
  canonicalAddress,
  draftMapping,
  emptyDraft,
  mappingFaults,
  nameFault,
} from './endpoint-draft.ts'

const taken = ['tcp://127.0.0.1:8529', 'unix:///run/a.sock']
const faultsOf = (change: Partial<typeof emptyDraft>) =>
  addressFaults({ ...emptyDraft, port: '8530', ...change }, taken)

describe('a fault of the address stands at its field', () => {
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
    [{ scheme: 'unix', path: 'run/a' }, ['path']],
    [{ scheme: 'unix', path: '/run/./a.sock' }, ['path']],
    [{ scheme: 'unix', path: '/run/b.sock' }, []],
  ] as const)('%j', (change, fields) => {
    expect(Object.keys(faultsOf(change))).toEqual(fields)
  })
})

test('an address is known in whatever way it is written', () => {
  const draft = { ...emptyDraft, host: ' LOCALHOST ', port: '8530' }
  expect(canonicalAddress(draft)).toBe('tcp://localhost:8530')
  expect(addressFaults(draft, ['tcp://localhost:8530'])).toHaveProperty('port')
})

test('taking out the last name never becomes all databases', () => {
  expect(mappingFaults({ ...emptyDraft, reach: 'only', names: [] })).toHaveProperty('databases')
  expect(mappingFaults({ ...emptyDraft, reach: 'all', names: [] })).toEqual({})
  expect(draftMapping({ ...emptyDraft, reach: 'all', names: ['blog'] })).toEqual([])
})

test('a name is refused when it is empty, no name, or there already', () => {
  expect(nameFault('', [])).toBeDefined()
  expect(nameFault('1blog', [])).toBeDefined()
  expect(nameFault('blog', ['blog'])).toBe('blog is in the list already.')
  expect(nameFault('_system', ['blog'])).toBeUndefined()
})

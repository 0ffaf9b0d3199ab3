import { describe, expect, test } from 'vitest'
import { isCharacterKey, KEYS } from './keys.ts'
import { type KeyEventFields, matchShortcut, toCombination } from './use-keys.ts'

const press = (key: string, more: Partial<KeyEventFields> = {}): KeyEventFields => ({
  key,
  code: '',
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
})

describe('the registry of shortcuts', () => {
  test('has unique ids, and unique combinations per scope', () => {
    const ids = KEYS.map(({ id, where }) => `${where} ${id}`)
    expect(new Set(ids).size).toBe(ids.length)
    const combinations = KEYS.flatMap(({ where, keys }) =>
      keys.map((combination) => `${where} ${combination}`),
    )
    expect(new Set(combinations).size).toBe(combinations.length)
  })

  test('has no combination that starts a sequence', () => {
    const first = KEYS.flatMap(({ keys }) => keys).filter(
      (combination) => combination.length > 2 && combination[1] === ' ',
    )
    for (const combination of first) {
      expect(matchShortcut('anywhere', combination[0] ?? '', true)).toBe('more')
    }
  })
})

describe('a key press', () => {
  test.each([
    [press('k', { ctrlKey: true }), false, 'Mod+K'],
    [press('k', { metaKey: true }), true, 'Mod+K'],
    // On a Mac, Ctrl+K deletes to the end of the line.
    [press('k', { ctrlKey: true }), true, undefined],
    [press('k', { metaKey: true }), false, undefined],
    // Keyboard layouts differ in which characters need Shift.
    [press('?', { shiftKey: true }), false, '?'],
    [press('/', { shiftKey: true }), false, '/'],
    [press('N', { shiftKey: true }), false, 'Shift+N'],
    [press(' ', { shiftKey: true }), false, 'Shift+ '],
    [press('ArrowUp', { altKey: true }), false, 'Alt+ArrowUp'],
    // Cyrillic keyboard layout.
    [press('л', { code: 'KeyK', ctrlKey: true }), false, 'Mod+K'],
  ])('%o, on a Mac: %s, is %s', (event, mac, name) => {
    expect(toCombination(event, mac)).toBe(name)
  })
})

describe('matching a key press', () => {
  test.each([
    ['anywhere', 'Mod+K', true, 'search'],
    ['anywhere', 'G', true, 'more'],
    ['anywhere', 'G E', true, 'go-endpoints'],
    ['anywhere', 'E', true, undefined],
    ['table', 'E', true, undefined],
    ['endpoints', 'E', true, 'edit'],
    ['documents', 'Enter', false, 'open'],
    ['mapping', 'Alt+ArrowUp', true, 'move-up'],
    // With character keys off, or in a field, only the other keys act.
    ['anywhere', '?', false, undefined],
    ['anywhere', 'G', false, undefined],
    ['table', 'J', false, undefined],
    ['table', 'ArrowDown', false, 'next'],
    ['table', ' ', false, 'select'],
    ['anywhere', 'Mod+K', false, 'search'],
  ] as const)('%s: %s with characters %s is %s', (where, name, characters, id) => {
    expect(matchShortcut(where, name, characters)).toBe(id)
  })

  test.each([
    ['?', true],
    ['G E', true],
    ['N', true],
    [' ', false],
    ['Shift+ ', false],
    ['Mod+K', false],
    ['Delete', false],
  ])('%j includes a bare character: %s', (combination, is) => {
    expect(isCharacterKey(combination)).toBe(is)
  })
})

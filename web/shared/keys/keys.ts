import type { Role } from '../../server/contract/role.ts'

/** Where a key acts: on every page, in a table, in the list of a mapping, in a form. */
export type KeyPlace = 'anywhere' | 'table' | 'mapping' | 'form'

/** A key of the console, as it acts and as the page of keys tells it. */
export interface KeySpec {
  readonly id: string
  /**
   * Ways to press it, each as `KeyboardEvent.key` names it, letters in capitals, with `Mod+` (⌘ on a
   * Mac, else Ctrl), `Alt+`, `Shift+` before it; two with a space between are one after the other.
   */
  readonly keys: readonly string[]
  readonly where: KeyPlace
  /** What it does: a verb and a thing. */
  readonly label: string
  /** The least role it is of use to; left out: everybody. */
  readonly needs?: Role
}

/**
 * Every key of the console, from which the page of keys is made. To act on one, bind a handler by its
 * id: {@link useKeys} on a whole page, `onKeys` on an element. To add one, add a line here.
 */
export const KEYS = [
  { id: 'search', keys: ['Mod+K'], where: 'anywhere', label: 'Search' },
  { id: 'keys', keys: ['?'], where: 'anywhere', label: 'Show the keys' },
  { id: 'filter', keys: ['/'], where: 'anywhere', label: 'Filter the page' },
  { id: 'go-endpoints', keys: ['G E'], where: 'anywhere', label: 'Go to Endpoints' },
  { id: 'go-databases', keys: ['G D'], where: 'anywhere', label: 'Go to Databases' },
  { id: 'go-documents', keys: ['G O'], where: 'anywhere', label: 'Go to Documents' },
  { id: 'go-access', keys: ['G A'], where: 'anywhere', label: 'Go to Access', needs: 'admin' },
  { id: 'go-activity', keys: ['G V'], where: 'anywhere', label: 'Go to Activity' },
  { id: 'close', keys: ['Escape'], where: 'anywhere', label: 'Close what is on top' },
  { id: 'next', keys: ['ArrowDown', 'J'], where: 'table', label: 'Next row' },
  { id: 'previous', keys: ['ArrowUp', 'K'], where: 'table', label: 'Previous row' },
  { id: 'page-down', keys: ['PageDown'], where: 'table', label: 'A page down' },
  { id: 'page-up', keys: ['PageUp'], where: 'table', label: 'A page up' },
  { id: 'first', keys: ['Home'], where: 'table', label: 'First row' },
  { id: 'last', keys: ['End'], where: 'table', label: 'Last row' },
  { id: 'open', keys: ['Enter'], where: 'table', label: 'Open the panel of the row' },
  { id: 'select', keys: [' '], where: 'table', label: 'Select the row', needs: 'operator' },
  {
    id: 'extend',
    keys: ['Shift+ ', 'Shift+ArrowUp', 'Shift+ArrowDown'],
    where: 'table',
    label: 'Extend the selection',
    needs: 'operator',
  },
  { id: 'add', keys: ['N'], where: 'table', label: 'Add an endpoint', needs: 'operator' },
  { id: 'edit', keys: ['E'], where: 'table', label: 'Edit the mapping', needs: 'operator' },
  { id: 'copy', keys: ['C'], where: 'table', label: 'Copy the address' },
  { id: 'try', keys: ['T'], where: 'table', label: 'Try it with curl' },
  { id: 'remove', keys: ['Delete'], where: 'table', label: 'Ask to remove', needs: 'operator' },
  { id: 'undo', keys: ['Mod+Z'], where: 'table', label: 'Undo the removal', needs: 'operator' },
  { id: 'move-up', keys: ['Alt+ArrowUp'], where: 'mapping', label: 'Move up', needs: 'operator' },
  {
    id: 'move-down',
    keys: ['Alt+ArrowDown'],
    where: 'mapping',
    label: 'Move down',
    needs: 'operator',
  },
  { id: 'take-out', keys: ['Delete'], where: 'mapping', label: 'Take out', needs: 'operator' },
  { id: 'save', keys: ['Mod+Enter'], where: 'form', label: 'Save' },
] as const satisfies readonly KeySpec[]

/** The id of a key. */
export type KeyId = (typeof KEYS)[number]['id']

/** What is done at a key. It answers `false` where it has not acted: then the event goes on. */
export type KeyHandler = (event: KeyboardEvent) => unknown

/** What is done at which key. */
export type KeyHandlers = { readonly [Id in KeyId]?: KeyHandler }

/**
 * Whether a way to press a key is a character alone (WCAG 2.1.4): it never acts in a field, and can
 * be switched off.
 */
export const isCharacterKey = (way: string): boolean =>
  way.split(/(?<=\S) (?=\S)/).some((key) => /^\S$/.test(key))

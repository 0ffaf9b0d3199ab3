import type { Role } from '../../../server/contract/access/principal.ts'

/**
 * Where a shortcut acts: on every page, in the tables of endpoints and documents, in one of them, in
 * a mapping's list, or in a form.
 */
export type KeyScope = 'anywhere' | 'table' | 'endpoints' | 'documents' | 'mapping' | 'form'

/** A keyboard shortcut, as bound and as listed in the shortcuts dialog. */
export interface KeySpec {
  readonly id: string
  /**
   * Alternative key combinations. Each uses a `KeyboardEvent.key` name, with letters in upper case,
   * after `Mod+` (⌘ on a Mac, otherwise Ctrl), `Alt+`, or `Shift+`. A space separates two keys that
   * are pressed in sequence.
   */
  readonly keys: readonly string[]
  readonly where: KeyScope
  /** What the shortcut does, as a verb and a noun. */
  readonly label: string
  /** Minimum role that the shortcut is listed for. Default: every role. */
  readonly needs?: Role
}

/**
 * All keyboard shortcuts of the console. The shortcuts dialog lists them. To handle a shortcut,
 * bind a handler by its id, with {@link useKeys} for a whole page or `onKeys` for an element. To
 * add a shortcut, add a line here.
 */
export const KEYS = [
  { id: 'search', keys: ['Mod+K'], where: 'anywhere', label: 'Search' },
  { id: 'keys', keys: ['?'], where: 'anywhere', label: 'Show keyboard shortcuts' },
  { id: 'filter', keys: ['/'], where: 'anywhere', label: 'Filter the page' },
  { id: 'go-overview', keys: ['G O'], where: 'anywhere', label: 'Go to Overview' },
  { id: 'go-endpoints', keys: ['G E'], where: 'anywhere', label: 'Go to Endpoints' },
  {
    id: 'go-certificates',
    keys: ['G C'],
    where: 'anywhere',
    label: 'Go to Certificates',
    needs: 'operator',
  },
  { id: 'go-data', keys: ['G D'], where: 'anywhere', label: 'Go to Data' },
  {
    id: 'go-webhooks',
    keys: ['G W'],
    where: 'anywhere',
    label: 'Go to Webhooks',
    needs: 'editor',
  },
  { id: 'go-access', keys: ['G A'], where: 'anywhere', label: 'Go to Access', needs: 'admin' },
  { id: 'go-activity', keys: ['G V'], where: 'anywhere', label: 'Go to Activity' },
  {
    id: 'undo',
    keys: ['Mod+Z'],
    where: 'anywhere',
    label: 'Undo the last change',
    needs: 'editor',
  },
  // `useEscape` handles it for all layers that can be open at once.
  {
    id: 'close',
    keys: ['Escape'],
    where: 'anywhere',
    label: 'Close the topmost dialog or panel, then clear the selection',
  },
  { id: 'next', keys: ['ArrowDown', 'J'], where: 'table', label: 'Next row' },
  { id: 'previous', keys: ['ArrowUp', 'K'], where: 'table', label: 'Previous row' },
  { id: 'page-down', keys: ['PageDown'], where: 'table', label: 'Page down' },
  { id: 'page-up', keys: ['PageUp'], where: 'table', label: 'Page up' },
  { id: 'first', keys: ['Home'], where: 'table', label: 'First row' },
  { id: 'last', keys: ['End'], where: 'table', label: 'Last row' },
  { id: 'select', keys: [' '], where: 'table', label: 'Select the row', needs: 'editor' },
  {
    id: 'extend',
    keys: ['Shift+ ', 'Shift+ArrowUp', 'Shift+ArrowDown'],
    where: 'table',
    label: 'Extend the selection',
    needs: 'editor',
  },
  { id: 'open', keys: ['Enter'], where: 'endpoints', label: 'Open the panel of the endpoint' },
  { id: 'add', keys: ['N'], where: 'endpoints', label: 'Add an endpoint', needs: 'operator' },
  { id: 'edit', keys: ['E'], where: 'endpoints', label: 'Edit the mapping', needs: 'operator' },
  { id: 'copy', keys: ['C'], where: 'endpoints', label: 'Copy the address' },
  { id: 'try', keys: ['T'], where: 'endpoints', label: 'Show curl commands' },
  {
    id: 'remove',
    keys: ['Delete'],
    where: 'endpoints',
    label: 'Remove the endpoint',
    needs: 'operator',
  },
  { id: 'open', keys: ['Enter'], where: 'documents', label: 'Open the document' },
  { id: 'add', keys: ['N'], where: 'documents', label: 'Create a document', needs: 'editor' },
  { id: 'edit', keys: ['E'], where: 'documents', label: 'Edit the document', needs: 'editor' },
  { id: 'copy', keys: ['C'], where: 'documents', label: 'Copy the id' },
  {
    id: 'remove',
    keys: ['Delete'],
    where: 'documents',
    label: 'Delete the document',
    needs: 'editor',
  },
  {
    id: 'resize',
    keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'],
    where: 'documents',
    label: 'Resize the column, in its header',
  },
  { id: 'move-up', keys: ['Alt+ArrowUp'], where: 'mapping', label: 'Move up', needs: 'operator' },
  {
    id: 'move-down',
    keys: ['Alt+ArrowDown'],
    where: 'mapping',
    label: 'Move down',
    needs: 'operator',
  },
  { id: 'remove-database', keys: ['Delete'], where: 'mapping', label: 'Remove', needs: 'operator' },
  { id: 'save', keys: ['Mod+Enter'], where: 'form', label: 'Save' },
] as const satisfies readonly KeySpec[]

export type KeyId = (typeof KEYS)[number]['id']

/** Handles a shortcut. Returns `false` if it did not act; the event then propagates. */
export type KeyHandler = (event: KeyboardEvent) => unknown

type IdIn<Where extends KeyScope> = Extract<(typeof KEYS)[number], { readonly where: Where }>['id']

/** Handlers of the shortcuts of some scopes. */
export type KeyHandlers<Where extends KeyScope = KeyScope> = {
  readonly [Id in IdIn<Where>]?: KeyHandler
}

/**
 * Returns whether a combination includes a bare character (WCAG 2.1.4). Such shortcuts never act in
 * a field and can be turned off.
 */
export const isCharacterKey = (combination: string): boolean =>
  combination.split(/(?<=\S) (?=\S)/).some((key) => /^\S$/.test(key))

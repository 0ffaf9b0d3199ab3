import { type KeyboardEvent as ReactKeyboardEvent, useLayoutEffect } from 'react'
import { useLatest } from '../../ui/use-latest.ts'
import { characterKeysOn } from './character-keys.ts'
import { isCharacterKey, KEYS, type KeyHandlers, type KeyId, type KeyScope } from './keys.ts'

/** Maximum time between the two keys of a sequence, in milliseconds. */
const SEQUENCE_MS = 1_500

/**
 * Shortcuts that also act over an open dialog. Others would change the page behind it. What can be
 * undone is shown above the dialog.
 */
const KEYS_IN_DIALOGS: readonly KeyId[] = ['search', 'keys', 'undo']

/** Whether the platform uses ⌘ in place of Ctrl. */
export const IS_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

interface Binding {
  readonly where: KeyScope
  readonly handlers: { current: KeyHandlers }
}

/** Modifier keys. A press of one alone does not interrupt a sequence. */
const MODIFIER_KEYS = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'])

const bindings: Binding[] = []
let pending: { readonly press: string; readonly at: number } | undefined

/**
 * Binds handlers to shortcuts while the component is mounted, regardless of focus. The handler
 * bound last wins. Handlers may change on every render.
 *
 * ```tsx
 * useKeys('anywhere', { filter: () => field.current?.focus() })
 * ```
 *
 * Bare characters never act in a field or when turned off. Over an open dialog, only the shortcuts
 * for the search, the shortcuts dialog and undo act. For shortcuts that act only while one element has
 * the focus, see {@link onKeys}.
 */
export function useKeys<Where extends KeyScope>(where: Where, handlers: KeyHandlers<Where>): void {
  const latest = useLatest<KeyHandlers>(handlers)
  useLayoutEffect(() => {
    const binding: Binding = { where, handlers: latest }
    if (bindings.length === 0) {
      document.addEventListener('keydown', onSecondKey, { capture: true })
      document.addEventListener('keydown', onDocument)
    }
    bindings.push(binding)
    return () => {
      bindings.splice(bindings.indexOf(binding), 1)
      if (bindings.length > 0) return
      document.removeEventListener('keydown', onSecondKey, { capture: true })
      document.removeEventListener('keydown', onDocument)
    }
  }, [where, latest])
}

/**
 * Returns an `onKeyDown` handler for shortcuts within an element. It returns whether one acted.
 *
 * ```tsx
 * <tbody onKeyDown={onKeys('table', { next: () => step(1), previous: () => step(-1) })}>
 * ```
 */
export function onKeys<Where extends KeyScope>(where: Where, handlers: KeyHandlers<Where>) {
  const all: KeyHandlers = handlers
  return (event: ReactKeyboardEvent | KeyboardEvent): boolean => {
    const native = 'nativeEvent' in event ? event.nativeEvent : event
    const id = match(native, where)
    return id !== undefined && id !== 'more' && act(native, all[id])
  }
}

/** Handles the second key of a sequence before the focused element does: G, then E. */
function onSecondKey(event: KeyboardEvent): void {
  if (pending === undefined || MODIFIER_KEYS.has(event.key)) return
  const first = event.timeStamp - pending.at < SEQUENCE_MS ? pending.press : undefined
  pending = undefined
  if (first === undefined) return
  if (run(event, (where) => match(event, where, first))) event.stopPropagation()
}

function onDocument(event: KeyboardEvent): void {
  run(event, (where) => {
    const id = match(event, where)
    if (id !== 'more') return id
    pending = { press: toCombination(event, IS_MAC) ?? '', at: event.timeStamp }
    return undefined
  })
}

function run(event: KeyboardEvent, idOf: (where: KeyScope) => KeyId | 'more' | undefined): boolean {
  return bindings.toReversed().some(({ where, handlers }) => {
    const id = idOf(where)
    if (id === undefined || id === 'more' || !canAct(id)) return false
    return act(event, handlers.current[id])
  })
}

function match(event: KeyboardEvent, where: KeyScope, first?: string) {
  if (event.defaultPrevented || event.isComposing) return undefined
  const press = toCombination(event, IS_MAC)
  if (press === undefined) return undefined
  const characters = characterKeysOn() && !isField(event.target)
  return matchShortcut(where, first === undefined ? press : `${first} ${press}`, characters)
}

function act(event: KeyboardEvent, handler: KeyHandlers[KeyId]): boolean {
  if (handler === undefined || handler(event) === false) return false
  event.preventDefault()
  return true
}

const canAct = (id: KeyId): boolean =>
  KEYS_IN_DIALOGS.includes(id) || document.querySelector('[aria-modal="true"]') === null

/** Input types that take no text. */
const NON_TEXT_INPUT = /^(button|checkbox|color|file|image|radio|range|reset|submit)$/

/** Whether the focused element takes text, so that a character is typed into it. */
function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !NON_TEXT_INPUT.test(target.type)
  return target.matches('textarea, select') || target.isContentEditable
}

/** The fields of a `KeyboardEvent` that identify the pressed key. */
export type KeyEventFields = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey'
> & {
  readonly shiftKey: boolean
}

/**
 * Returns a key press in the notation of {@link KEYS}: `Mod+K`, `?`, `Shift+ArrowUp`. Returns
 * undefined if the other platform's modifier is held.
 */
export function toCombination(event: KeyEventFields, mac: boolean): string | undefined {
  const mod = mac ? event.metaKey : event.ctrlKey
  const otherModifier = mac ? event.ctrlKey : event.metaKey
  if (otherModifier) return undefined
  const key = keyName(event)
  // Symbols such as `?` may need Shift to type; for letters and other keys Shift is a modifier.
  const shift = event.shiftKey && !/^[^\sA-Z]$/.test(key)
  return `${mod ? 'Mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${key}`
}

function keyName({ key, code }: KeyEventFields): string {
  // On non-Latin layouts, use the letter at the same position on a Latin keyboard.
  if (key.length === 1 && key > '~' && /^Key[A-Z]$/.test(code)) return code.slice(3)
  return key.length === 1 ? key.toUpperCase() : key
}

/**
 * Returns the shortcut for a key press. A sequence is given as `G E`. Returns `more` for the first
 * key of a sequence, and undefined if nothing matches.
 *
 * @param characters whether single-character shortcuts act.
 */
export function matchShortcut(
  where: KeyScope,
  press: string,
  characters: boolean,
): KeyId | 'more' | undefined {
  const enabled = KEYS.filter((spec) => spec.where === where).flatMap(({ id, keys }) =>
    keys
      .filter((combination) => characters || !isCharacterKey(combination))
      .map((combination) => ({ id, combination })),
  )
  const more = enabled.some(({ combination }) => combination.startsWith(`${press} `))
  return enabled.find(({ combination }) => combination === press)?.id ?? (more ? 'more' : undefined)
}

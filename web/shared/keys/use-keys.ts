import { type KeyboardEvent as ReactKeyboardEvent, useLayoutEffect, useRef } from 'react'
import { characterKeysOn } from './character-keys.ts'
import type { KeyHandlers, KeyId, KeyPlace } from './keys.ts'
import { matchPress, pressName } from './press.ts'

/** Two presses are one key when they come within this many milliseconds. */
const SEQUENCE_MS = 1_500

/** Keys that act over an open dialog too; others would change the page beneath it. */
const OVER_DIALOGS: readonly KeyId[] = ['search', 'keys']

/** Whether the keyboard is a Mac's, where ⌘ is what Ctrl is elsewhere. */
export const IS_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

interface Binding {
  readonly where: KeyPlace
  readonly handlers: { current: KeyHandlers }
}

/** Pressed on the way to a key: they are none themselves. */
const SHIFTING = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'])

const bindings: Binding[] = []
let before: { readonly press: string; readonly at: number } | undefined

/**
 * Binds handlers to keys for as long as the component is in the page, wherever the focus is; of two
 * handlers of one key the one bound last acts. Handlers may be new at every drawing.
 *
 * ```tsx
 * useKeys('anywhere', { filter: () => field.current?.focus() })
 * ```
 *
 * Characters never act in a field, nor over an open dialog, nor when they are switched off. For keys
 * that belong to one element, and mean something only while it has the focus, see {@link onKeys}.
 */
export function useKeys(where: KeyPlace, handlers: KeyHandlers): void {
  const current = useRef(handlers)
  // Whatever can be seen listens, with the handlers of that very drawing.
  useLayoutEffect(() => {
    current.current = handlers
  })
  useLayoutEffect(() => {
    const binding: Binding = { where, handlers: current }
    if (bindings.length === 0) {
      document.addEventListener('keydown', onSecond, { capture: true })
      document.addEventListener('keydown', onDocument)
    }
    bindings.push(binding)
    return () => {
      bindings.splice(bindings.indexOf(binding), 1)
      if (bindings.length > 0) return
      document.removeEventListener('keydown', onSecond, { capture: true })
      document.removeEventListener('keydown', onDocument)
    }
  }, [where])
}

/**
 * A handler of `onKeyDown` that does what keys mean within an element. Tells whether one acted.
 *
 * ```tsx
 * <tbody onKeyDown={onKeys('table', { next: () => step(1), edit: () => edit(row) })}>
 * ```
 */
export function onKeys(where: KeyPlace, handlers: KeyHandlers) {
  return (event: ReactKeyboardEvent | KeyboardEvent): boolean => {
    const native = 'nativeEvent' in event ? event.nativeEvent : event
    const id = match(native, where)
    return id !== undefined && id !== 'more' && act(native, handlers[id])
  }
}

/** A second press belongs to the first, whatever it would mean where the focus is: G, then E. */
function onSecond(event: KeyboardEvent): void {
  if (before === undefined || SHIFTING.has(event.key)) return
  const first = event.timeStamp - before.at < SEQUENCE_MS ? before.press : undefined
  before = undefined
  if (first === undefined) return
  if (run(event, (where) => match(event, where, first))) event.stopPropagation()
}

function onDocument(event: KeyboardEvent): void {
  run(event, (where) => {
    const id = match(event, where)
    if (id !== 'more') return id
    before = { press: pressName(event, IS_MAC) ?? '', at: event.timeStamp }
    return undefined
  })
}

function run(event: KeyboardEvent, idOf: (where: KeyPlace) => KeyId | 'more' | undefined): boolean {
  return bindings.toReversed().some(({ where, handlers }) => {
    const id = idOf(where)
    if (id === undefined || id === 'more' || !mayAct(id)) return false
    return act(event, handlers.current[id])
  })
}

function match(event: KeyboardEvent, where: KeyPlace, first?: string) {
  if (event.defaultPrevented || event.isComposing) return undefined
  const press = pressName(event, IS_MAC)
  if (press === undefined) return undefined
  const characters = characterKeysOn() && !isField(event.target)
  return matchPress(where, first === undefined ? press : `${first} ${press}`, characters)
}

function act(event: KeyboardEvent, handler: KeyHandlers[KeyId]): boolean {
  if (handler === undefined || handler(event) === false) return false
  event.preventDefault()
  return true
}

const mayAct = (id: KeyId): boolean =>
  OVER_DIALOGS.includes(id) || document.querySelector('[aria-modal="true"]') === null

/** Inputs that take no text: characters are no typing there. */
const WORDLESS = /^(button|checkbox|color|file|image|radio|range|reset|submit)$/

/** Whether what has the focus takes text: there a character is typed, and does nothing else. */
function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !WORDLESS.test(target.type)
  return target.matches('textarea, select') || target.isContentEditable
}

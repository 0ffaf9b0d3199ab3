import { isCharacterKey, KEYS, type KeyId, type KeyScope } from './keys.ts'

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

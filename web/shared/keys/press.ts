import { isCharacterKey, KEYS, type KeyId, type KeyPlace } from './keys.ts'

/** What of a `KeyboardEvent` tells which key it is. */
export type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey'> & {
  readonly shiftKey: boolean
}

/** A press as {@link KEYS} spells it: `Mod+K`, `?`, `Shift+ArrowUp`. Undefined: no key of ours. */
export function pressName(event: Pressed, mac: boolean): string | undefined {
  const mod = mac ? event.metaKey : event.ctrlKey
  const foreign = mac ? event.ctrlKey : event.metaKey
  if (foreign) return undefined
  const key = keyName(event)
  // Shift is what makes a character of a key; on others it means something of its own.
  const shift = event.shiftKey && !/^[^\sA-Z]$/.test(key)
  return `${mod ? 'Mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${key}`
}

function keyName({ key, code }: Pressed): string {
  // On a keyboard with other letters, the key where a Latin one has its letter.
  if (key.length === 1 && key > '~' && /^Key[A-Z]$/.test(code)) return code.slice(3)
  return key.length === 1 ? key.toUpperCase() : key
}

/**
 * The key that a press makes, `G E` where two came one after the other; `more`: it is the first of
 * two; undefined: nothing.
 *
 * @param characters whether keys that are a character alone act.
 */
export function matchPress(
  where: KeyPlace,
  press: string,
  characters: boolean,
): KeyId | 'more' | undefined {
  const able = KEYS.filter((spec) => spec.where === where).flatMap(({ id, keys }) =>
    keys.filter((way) => characters || !isCharacterKey(way)).map((way) => ({ id, way })),
  )
  const more = able.some(({ way }) => way.startsWith(`${press} `))
  return able.find(({ way }) => way === press)?.id ?? (more ? 'more' : undefined)
}

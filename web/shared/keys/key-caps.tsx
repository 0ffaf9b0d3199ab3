import type { ComponentType } from 'react'
import {
  IconArrowBigUp,
  IconArrowDown,
  IconArrowLeft,
  IconArrowRight,
  IconArrowUp,
  IconCommand,
  type IconProps,
} from '../../ui/icon/icons.tsx'
import classes from './key-caps.module.css'
import { IS_MAC } from './use-keys.ts'

/** Keys without a glyph in the fonts get an icon; screen readers get the word. */
const icons: Readonly<Record<string, { word: string; Icon: ComponentType<IconProps> }>> = {
  ArrowUp: { word: 'Up', Icon: IconArrowUp },
  ArrowLeft: { word: 'Left', Icon: IconArrowLeft },
  ArrowRight: { word: 'Right', Icon: IconArrowRight },
  ArrowDown: { word: 'Down', Icon: IconArrowDown },
  ...(IS_MAC && {
    Mod: { word: 'Command', Icon: IconCommand },
    Shift: { word: 'Shift', Icon: IconArrowBigUp },
  }),
}

const names: Readonly<Record<string, string>> = {
  Mod: 'Ctrl',
  ' ': 'Space',
  Escape: 'Esc',
  PageUp: 'Page up',
  PageDown: 'Page down',
  Alt: IS_MAC ? 'Option' : 'Alt',
}

/** Renders a combination from {@link KEYS} as key caps: `Ctrl` `K`, or `G` then `E`. */
export function KeyCaps({ combination }: { combination: string }) {
  return combination.split(/(?<=\S) (?=\S)/).map((press, index) => (
    <span key={press} className={classes.press}>
      {index > 0 && <span className="dim">then</span>}
      {press.split('+').map((key) => (
        <kbd key={key} className={classes.key}>
          <Key name={key} />
        </kbd>
      ))}
    </span>
  ))
}

function Key({ name }: { name: string }) {
  const { word, Icon } = icons[name] ?? {}
  if (Icon === undefined) return names[name] ?? name
  return (
    <>
      <Icon size={12} stroke={1.75} />
      <span className="visually-hidden">{word}</span>
    </>
  )
}

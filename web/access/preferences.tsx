import { useMantineColorScheme } from '@mantine/core'
import { useId } from 'react'
import { setCharacterKeys, useCharacterKeys } from '../shared/keys/character-keys.ts'
import { useLayer } from '../shared/keys/use-layer.ts'
import { ChoiceGroup } from '../ui/form/choice-group.tsx'
import { Section } from '../ui/layout/section.tsx'
import classes from './preferences.module.css'

const themes = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

/** The person's preferences in this browser: the theme and single-character shortcuts. */
export function Preferences() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const characters = useCharacterKeys()
  const { open } = useLayer()
  const id = useId()
  return (
    <Section title="Preferences" note="Saved in this browser.">
      <div className={classes.preferences}>
        <ChoiceGroup
          label="Theme"
          inline
          choices={themes}
          value={colorScheme}
          onChange={setColorScheme}
        />
        <div>
          <label className={classes.switch}>
            <input
              type="checkbox"
              checked={characters}
              aria-describedby={id}
              onChange={(event) => setCharacterKeys(event.currentTarget.checked)}
            />
            Single-character shortcuts
          </label>
          <p id={id} className={classes.note}>
            Such as N or ?. They never act in text fields. Turn them off if you use speech input or
            press keys by accident.{' '}
            <button
              type="button"
              className={`link-button ${classes.link}`}
              onClick={() => open('keys')}
            >
              Show keyboard shortcuts
            </button>
          </p>
        </div>
      </div>
    </Section>
  )
}

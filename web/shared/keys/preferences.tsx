import { useMantineColorScheme } from '@mantine/core'
import { useId } from 'react'
import { ChoiceGroup } from '../ui/form/choice-group.tsx'
import { Section } from '../ui/layout/section.tsx'
import { setCharacterKeys, useCharacterKeys } from './character-keys.ts'
import classes from './preferences.module.css'
import { useLayer } from './use-layer.ts'

const themes = [
  { value: 'auto', label: 'As the system' },
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
    <Section title="Preferences" note="Kept in this browser.">
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
            Keys that are a character alone
          </label>
          <p id={id} className={classes.note}>
            Such as N or ?. They never act in a field. Switch them off if you speak to your
            computer, or press keys without meaning to.{' '}
            <button
              type="button"
              className={`link-button ${classes.link}`}
              onClick={() => open('keys')}
            >
              Show the keys
            </button>
          </p>
        </div>
      </div>
    </Section>
  )
}

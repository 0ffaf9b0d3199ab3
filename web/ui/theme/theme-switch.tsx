import { useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '../icon/icons.tsx'
import classes from './theme-switch.module.css'

const themes = [
  { value: 'auto', label: 'System', Icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', Icon: IconSun },
  { value: 'dark', label: 'Dark', Icon: IconMoon },
] as const

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <fieldset className={classes.switch}>
      <legend className="visually-hidden">Theme</legend>
      {themes.map(({ value, label, Icon }) => (
        <label key={value} className={classes.choice} data-tip={label}>
          <input
            type="radio"
            name="theme"
            value={value}
            aria-label={label}
            className="visually-hidden"
            checked={colorScheme === value}
            onChange={() => setColorScheme(value)}
          />
          <Icon />
        </label>
      ))}
    </fieldset>
  )
}

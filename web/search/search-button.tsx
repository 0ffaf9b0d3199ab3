import { UnstyledButton } from '@mantine/core'
import { KeyCaps } from '../shared/keys/key-caps.tsx'
import { useLayer } from '../shared/keys/use-layer.ts'
import { IconSearch } from '../ui/icon/icons.tsx'
import { preloadSearch } from './global-search.tsx'
import classes from './search-button.module.css'

/** The search button in the top bar, styled like a field. */
export function SearchButton() {
  const { open } = useLayer()
  return (
    <UnstyledButton
      className={classes.field}
      aria-haspopup="dialog"
      onClick={() => open('search')}
      onPointerEnter={preloadSearch}
      onFocus={preloadSearch}
    >
      <IconSearch />
      <span className={classes.word}>Search</span>
      <span className={classes.press} aria-hidden="true">
        <KeyCaps combination="Mod+K" />
      </span>
    </UnstyledButton>
  )
}

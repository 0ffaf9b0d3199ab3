import { UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense } from 'react'
import { Press } from '../keys/press-shown.tsx'
import { useKeys } from '../keys/use-keys.ts'
import { useLayer } from '../keys/use-layer.ts'
import { PartBoundary } from '../ui/part-boundary.tsx'
import classes from './global-search.module.css'

const load = () => import('./search-dialog.tsx')
const SearchDialog = lazy(async () => ({ default: (await load()).SearchDialog }))

/** The search: its place in the top bar, its key, and its dialog wherever the URL ends in `#search`. */
export function GlobalSearch() {
  const { layer, open, close, toggle } = useLayer()
  useKeys('anywhere', { search: () => toggle('search') })
  const preload = () => void load().catch(() => {})
  return (
    <>
      <UnstyledButton
        className={classes.field}
        aria-haspopup="dialog"
        onClick={() => open('search')}
        onPointerEnter={preload}
        onFocus={preload}
      >
        <IconSearch size={16} stroke={1.5} aria-hidden="true" />
        <span className={classes.word}>Search</span>
        <span className={classes.press} aria-hidden="true">
          <Press way="Mod+K" />
        </span>
      </UnstyledButton>
      {layer === 'search' && (
        <PartBoundary>
          <Suspense>
            <SearchDialog onClose={close} />
          </Suspense>
        </PartBoundary>
      )}
    </>
  )
}

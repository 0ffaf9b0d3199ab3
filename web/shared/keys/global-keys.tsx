import { useNavigate } from '@tanstack/react-router'
import { lazy } from 'react'
import { useHasRole } from '../../api/session/person.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { useKeys } from './use-keys.ts'
import { useLayer } from './use-layer.ts'

const KeysDialog = lazy(async () => ({ default: (await import('./keys-dialog.tsx')).KeysDialog }))

const AboutDialog = lazy(async () => ({
  default: (await import('./about-dialog.tsx')).AboutDialog,
}))

/** Target of `/`: the element marked as the page's filter, or the first search field. */
const FILTER = '#main :is([data-page-filter], input[type="search"])'

/** Binds the shortcuts that work on every page, and shows the dialogs of shortcuts and About. Rendered once. */
export function GlobalKeys() {
  const { layer, close, toggle } = useLayer()
  const navigate = useNavigate()
  const mayCertify = useHasRole('operator')
  const mayCall = useHasRole('editor')
  const mayAccess = useHasRole('admin')
  const go = (to: string) => () => void navigate({ to })
  useKeys('anywhere', {
    keys: () => toggle('keys'),
    filter: focusFilter,
    'go-overview': go('/overview'),
    'go-endpoints': go('/endpoints'),
    ...(mayCertify && { 'go-certificates': go('/certificates') }),
    'go-data': go('/data'),
    ...(mayCall && { 'go-webhooks': go('/webhooks') }),
    ...(mayAccess && { 'go-access': go('/access') }),
    'go-activity': go('/activity'),
  })
  if (layer !== 'keys' && layer !== 'about') return null
  const Layer = layer === 'keys' ? KeysDialog : AboutDialog
  return (
    <LazyBoundary>
      <Layer onClose={close} />
    </LazyBoundary>
  )
}

function focusFilter(): boolean {
  const field = document.querySelector(FILTER)
  if (!(field instanceof HTMLElement)) return false
  field.focus()
  if (field instanceof HTMLInputElement) field.select()
  return true
}

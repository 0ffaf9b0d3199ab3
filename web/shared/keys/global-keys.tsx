import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useMay } from '../person.ts'
import { PartBoundary } from '../ui/part-boundary.tsx'
import { useKeys } from './use-keys.ts'
import { useLayer } from './use-layer.ts'

const KeysDialog = lazy(async () => ({ default: (await import('./keys-dialog.tsx')).KeysDialog }))

/** What `/` gives the focus to: what is marked so, else the first search field of the page. */
const FILTER = '#main :is([data-page-filter], input[type="search"])'

/** The keys that act on every page, and the page of keys itself; once, in the frame. */
export function GlobalKeys() {
  const { layer, close, toggle } = useLayer()
  const navigate = useNavigate()
  const mayAccess = useMay('admin')
  const go = (to: string) => () => void navigate({ to })
  useKeys('anywhere', {
    keys: () => toggle('keys'),
    filter: focusFilter,
    'go-endpoints': go('/endpoints'),
    'go-databases': go('/databases'),
    'go-documents': go('/documents'),
    ...(mayAccess && { 'go-access': go('/access') }),
    'go-activity': go('/activity'),
  })
  if (layer !== 'keys') return null
  return (
    <PartBoundary>
      <Suspense>
        <KeysDialog onClose={close} />
      </Suspense>
    </PartBoundary>
  )
}

function focusFilter(): boolean {
  const field = document.querySelector(FILTER)
  if (!(field instanceof HTMLElement)) return false
  field.focus()
  if (field instanceof HTMLInputElement) field.select()
  return true
}

import { Button, Menu } from '@mantine/core'
import { useHasRole } from '../../api/session/person.ts'
import { IconDots, IconTrash } from '../../ui/icon/icons.tsx'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { MenuButton } from '../../ui/overlay/menu-button.tsx'
import { CreateDocumentButton } from '../create-document.tsx'
import { useCompactToolbar } from '../use-compact-toolbar.ts'
import { useDataLocation } from '../use-data-location.ts'

/** Buttons that change the collection, and a menu with the rarer actions. */
export function TableActions({ onEditText }: { onEditText: () => void }) {
  const { load, empty } = useDataLocation()
  const mayChange = useHasRole('editor')
  const compact = useCompactToolbar()
  const narrow = useNarrowScreen() || compact
  return (
    <>
      {mayChange && !narrow && (
        <Button variant="default" onClick={load}>
          Import
        </Button>
      )}
      <MenuButton label="More actions" icon={<IconDots />}>
        <Menu.Item onClick={onEditText}>Edit filter as text</Menu.Item>
        {mayChange && narrow && <Menu.Item onClick={load}>Import</Menu.Item>}
        {mayChange && (
          <Menu.Item data-danger leftSection={<IconTrash />} onClick={empty}>
            Delete all documents
          </Menu.Item>
        )}
      </MenuButton>
      {mayChange && <CreateDocumentButton />}
    </>
  )
}

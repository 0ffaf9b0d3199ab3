import { Button, Menu } from '@mantine/core'
import { useHasRole } from '../../shared/session/person.ts'
import { IconDots, IconTrash } from '../../shared/ui/icon/icons.tsx'
import { useNarrowScreen } from '../../shared/ui/layout/use-narrow-screen.ts'
import { MenuButton } from '../../shared/ui/overlay/menu-button.tsx'
import { useDocumentsLocation } from '../use-documents-location.ts'

/** Buttons that import documents into the collection and that delete all of them. */
export function TableActions() {
  const { load, empty } = useDocumentsLocation()
  const mayChange = useHasRole('operator')
  const narrow = useNarrowScreen()
  if (!mayChange) return null
  return (
    <>
      {!narrow && (
        <Button variant="default" onClick={load}>
          Import
        </Button>
      )}
      <MenuButton label="More actions" icon={<IconDots />}>
        {narrow && <Menu.Item onClick={load}>Import</Menu.Item>}
        <Menu.Item data-danger leftSection={<IconTrash />} onClick={empty}>
          Delete all documents
        </Menu.Item>
      </MenuButton>
    </>
  )
}

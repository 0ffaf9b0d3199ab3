import { Button, Menu } from '@mantine/core'
import { useHasRole } from '../../api/session/person.ts'
import { IconDots, IconTrash } from '../../ui/icon/icons.tsx'
import { useNarrowScreen, usePhoneScreen } from '../../ui/layout/use-narrow-screen.ts'
import { MenuButton } from '../../ui/overlay/menu-button.tsx'
import { CopyLinkItem } from '../filter/request-line.tsx'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'

export interface TableActionsProps {
  readonly collectionRef: CollectionRef
  readonly onEditText: () => void
}

/**
 * Buttons that import documents into the collection and that delete all of them. On a phone, a menu
 * also contains the actions of the request, which is not shown.
 */
export function TableActions({ collectionRef, onEditText }: TableActionsProps) {
  const { load, empty } = useDataLocation()
  const mayChange = useHasRole('editor')
  const narrow = useNarrowScreen()
  const phone = usePhoneScreen()
  if (!mayChange && !phone) return null
  return (
    <>
      {mayChange && !narrow && (
        <Button variant="default" onClick={load}>
          Import
        </Button>
      )}
      <MenuButton label="More actions" icon={<IconDots />}>
        {phone && (
          <>
            <CopyLinkItem collectionRef={collectionRef} />
            <Menu.Item onClick={onEditText}>Edit filter as text</Menu.Item>
          </>
        )}
        {mayChange && phone && <Menu.Divider />}
        {mayChange && narrow && <Menu.Item onClick={load}>Import</Menu.Item>}
        {mayChange && (
          <Menu.Item data-danger leftSection={<IconTrash />} onClick={empty}>
            Delete all documents
          </Menu.Item>
        )}
      </MenuButton>
    </>
  )
}

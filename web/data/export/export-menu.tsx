import { Menu } from '@mantine/core'
import { IconDownload } from '../../ui/icon/icons.tsx'
import { CopyItem } from '../../ui/overlay/copy-item.tsx'
import { MenuButton } from '../../ui/overlay/menu-button.tsx'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import { useCompactToolbar } from '../use-compact-toolbar.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import { useStartExport } from './document-exports.tsx'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportDocuments,
  toCurl,
  toFetch,
} from './export-documents.ts'

const formats = Object.entries(EXPORT_FORMATS) as [ExportFormat, string][]

/** Menu that saves the documents that match as a file, or copies the request for them. */
export function ExportMenu({ collectionRef }: { collectionRef: CollectionRef }) {
  const { search } = useDataLocation()
  const { filter, sort } = search
  const start = useStartExport()
  const compact = useCompactToolbar()
  const url = location.origin + toApiPath(collectionRef, conditionsOf(filter), sort)
  return (
    <MenuButton label="Export" icon={compact && <IconDownload />}>
      <Menu.Label>{filter === undefined ? 'All documents' : 'Documents that match'}</Menu.Label>
      {formats.map(([format, label]) => (
        <Menu.Item
          key={format}
          onClick={({ detail }) => {
            // The item can be clicked again while the menu fades.
            if (detail > 1) return
            start({
              collectionRef,
              run: (control) =>
                exportDocuments({ collectionRef, filter, sort, format, ...control }),
            })
          }}
        >
          {label}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <CopyItem label="Copy as curl" name="The curl command" text={toCurl(url)} />
      <CopyItem label="Copy as fetch" name="The fetch call" text={toFetch(url)} />
    </MenuButton>
  )
}

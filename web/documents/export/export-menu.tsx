import { Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { MenuButton } from '../../shared/ui/overlay/menu-button.tsx'
import { useCopied } from '../../shared/ui/text/use-copied.ts'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import { toCurl, toFetch } from './export-command.ts'
import { EXPORT_FORMATS, type ExportFormat, exportDocuments } from './export-documents.ts'
import { ExportProgress } from './export-progress.tsx'

const formats = Object.entries(EXPORT_FORMATS) as [ExportFormat, string][]

/** Menu that saves the documents that match as a file, or copies the request for them. */
export function ExportMenu({ collectionRef }: { collectionRef: CollectionRef }) {
  const { search } = useDocumentsLocation()
  const { filter, sort } = search
  const abort = useRef<AbortController>(undefined)
  const [received, setReceived] = useState(0)
  const download = useMutation({
    mutationFn: (format: ExportFormat) => {
      const controller = new AbortController()
      abort.current = controller
      const { signal } = controller
      setReceived(0)
      return exportDocuments({
        ...{ collectionRef, filter, sort, format, signal },
        onProgress: setReceived,
      })
    },
    onSuccess: (name) => announce(`${name} was saved.`),
  })
  // Other pages of the console do not end the export.
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: () => download.isPending })
  const url = location.origin + toApiPath(collectionRef, conditionsOf(filter), sort)
  const cancel = () => {
    abort.current?.abort()
    download.reset()
  }
  return (
    <>
      <MenuButton label="Export">
        <Menu.Label>{filter === undefined ? 'All documents' : 'Documents that match'}</Menu.Label>
        {formats.map(([format, label]) => (
          <Menu.Item
            key={format}
            onClick={() => {
              abort.current?.abort()
              download.mutate(format)
            }}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <CopyItem label="Copy as curl" name="The curl command" text={toCurl(url)} />
        <CopyItem label="Copy as fetch" name="The fetch call" text={toFetch(url)} />
      </MenuButton>
      {(download.isPending || download.isError) && (
        <ExportProgress
          collectionRef={collectionRef}
          received={received}
          error={download.error}
          onCancel={cancel}
        />
      )}
    </>
  )
}

/** Menu item that copies text. The menu stays open and confirms it. */
function CopyItem({ label, name, text }: { label: string; name: string; text: string }) {
  const [copied, copy] = useCopied()
  return (
    <Menu.Item closeMenuOnClick={false} onClick={() => copy(text, name)}>
      {copied === text ? 'Copied' : label}
    </Menu.Item>
  )
}

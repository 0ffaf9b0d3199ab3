import { Button } from '@mantine/core'
import { useHasRole } from '../../api/session/person.ts'
import { IconTrash } from '../../ui/icon/icons.tsx'
import { Dialog, DialogActions } from '../../ui/overlay/dialog.tsx'
import { useCopied } from '../../ui/text/copy-text.ts'
import type { StoredDocument } from '../document-client.ts'
import { formatJson } from '../editor/document-text.ts'
import { JsonBlock } from '../editor/json-block.tsx'
import { findDocumentElement } from '../find-document-element.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import classes from './document-dialog.module.css'

/** Shows a stored document with its actions. */
export function DocumentDialog({
  document,
}: {
  collectionRef: CollectionRef
  document: StoredDocument
}) {
  const { id, json } = document
  const { close, edit, remove } = useDataLocation()
  const mayChange = useHasRole('editor')
  const [copied, copy] = useCopied()
  const text = formatJson(json)
  return (
    <Dialog
      title={`Document ${id}`}
      name={id}
      width={720}
      onClose={close}
      returnTo={() => findDocumentElement(id)}
    >
      <JsonBlock label={`Document ${id} as JSON`} text={text} first />
      <DialogActions>
        {mayChange && (
          <Button
            variant="subtle"
            data-danger
            className={classes.delete}
            leftSection={<IconTrash />}
            onClick={() => remove(id)}
          >
            Delete document
          </Button>
        )}
        <Button variant="default" onClick={() => copy(text, `The JSON of ${id}`)}>
          {copied === text ? 'Copied' : 'Copy JSON'}
        </Button>
        {mayChange && (
          <Button variant="filled" onClick={() => edit(id)}>
            Edit document
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}

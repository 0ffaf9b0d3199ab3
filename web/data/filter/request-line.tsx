import { Button } from '@mantine/core'
import { CopyItem } from '../../ui/overlay/copy-item.tsx'
import { useCopied } from '../../ui/text/copy-text.ts'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import classes from './request-line.module.css'

/** Shows the request of the API that returns the documents that match, from those of the page. */
export function RequestLine(props: { collectionRef: CollectionRef; onEdit: () => void }) {
  const { collectionRef, onEdit } = props
  const path = useRequestPath(collectionRef)
  const link = location.origin + path
  const [copied, copy] = useCopied()
  return (
    <div className={classes.line}>
      <code className={`mono ${classes.path}`}>GET {path}</code>
      <Button variant="subtle" onClick={() => copy(link, 'The link')}>
        {copied === link ? 'Copied' : 'Copy link to API'}
      </Button>
      <Button variant="subtle" onClick={onEdit}>
        Edit as text
      </Button>
    </div>
  )
}

/** Menu item that copies the link of the request. */
export function CopyLinkItem({ collectionRef }: { collectionRef: CollectionRef }) {
  const path = useRequestPath(collectionRef)
  return <CopyItem label="Copy link to API" name="The link" text={location.origin + path} />
}

function useRequestPath(collectionRef: CollectionRef): string {
  const { search } = useDataLocation()
  return toApiPath(collectionRef, conditionsOf(search.filter), search.sort, search)
}

import { IconCheck, IconCopy } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { useCopied } from '../../ui/text/copy-text.ts'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import classes from './request-line.module.css'

/** Shows the request of the API that returns the documents that match, from those of the page. */
export function RequestLine({ collectionRef }: { collectionRef: CollectionRef }) {
  const { search } = useDataLocation()
  const path = toApiPath(collectionRef, conditionsOf(search.filter), search.sort, search)
  const link = location.origin + path
  const [copied, copy] = useCopied()
  return (
    <div className={classes.line}>
      <code className={`mono ${classes.path}`} data-tip={path.length > 40 ? path : undefined}>
        GET {path}
      </code>
      <IconButton
        aria-label="Copy link to API"
        data-tip="Copy link to API"
        onClick={() => copy(link, 'The link')}
      >
        {copied === link ? <IconCheck /> : <IconCopy />}
      </IconButton>
    </div>
  )
}

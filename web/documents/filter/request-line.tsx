import { Button } from '@mantine/core'
import { useState } from 'react'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { copyText } from '../../shared/ui/text/copy-text.ts'
import { toApiPath } from '../model/api-url.ts'
import { conditionsOf } from '../model/conditions.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import classes from './request-line.module.css'

/** Shows the request of the API that returns the documents that match. */
export function RequestLine(props: { collectionRef: CollectionRef; onEdit: () => void }) {
  const { collectionRef, onEdit } = props
  const { search } = useDocumentsLocation()
  const path = toApiPath(collectionRef, conditionsOf(search.filter), search.sort)
  const [copied, setCopied] = useState<string>()
  const copy = async () => {
    const done = await copyText(location.origin + path)
    setCopied(done ? path : undefined)
    announce(done ? 'The link was copied.' : 'The link could not be copied.')
  }
  return (
    <div className={classes.line}>
      <code className={`mono ${classes.path}`}>GET {path}</code>
      <Button variant="subtle" onClick={copy}>
        {copied === path ? 'Copied' : 'Copy link to API'}
      </Button>
      <Button variant="subtle" onClick={onEdit}>
        Edit as text
      </Button>
    </div>
  )
}

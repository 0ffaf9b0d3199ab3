import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useHasRole } from '../../shared/session/person.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import classes from './collection-links.module.css'

/** Actions on a whole collection. */
export function CollectionLinks({ collectionRef }: { collectionRef: CollectionRef }) {
  const { upload, empty } = useDocumentsLocation()
  const mayChange = useHasRole('operator')
  return (
    <div className={classes.ways}>
      <Link
        to="/documents/$database/$collection/schema"
        params={{ database: collectionRef.database, collection: collectionRef.collection }}
      >
        Schema
      </Link>
      {mayChange && (
        <>
          <Button variant="subtle" onClick={upload}>
            Upload documents
          </Button>
          <Button variant="subtle" className={classes.delete} onClick={empty}>
            Delete all documents
          </Button>
        </>
      )}
    </div>
  )
}

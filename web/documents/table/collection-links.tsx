import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../person.ts'
import classes from './collection-ways.module.css'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

/** What can be done with a collection as a whole. */
export function CollectionWays({ place }: { place: Place }) {
  const { upload, empty } = useDocumentsLocation()
  const mayChange = useMay('operator')
  return (
    <div className={classes.ways}>
      <Link
        to="/documents/$database/$collection/schema"
        params={{ database: place.database, collection: place.collection }}
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

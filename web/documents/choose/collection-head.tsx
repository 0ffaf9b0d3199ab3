import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHead } from '../../shared/ui/layout/page-head.tsx'
import type { CollectionRef } from '../use-documents-location.ts'
import classes from './collection-head.module.css'
import { CollectionTabs } from './collection-tabs.tsx'

export interface CollectionHeadProps {
  readonly title: string
  readonly collectionRef: CollectionRef
  readonly action?: ReactNode
}

/** The head of a page about one part of a collection, with links to the others. */
export function CollectionHead({ title, collectionRef, action }: CollectionHeadProps) {
  const { database } = collectionRef
  return (
    <>
      <PageHead title={title} action={action} />
      <p className={classes.place}>
        In{' '}
        <Link to="/documents/$database" params={{ database }}>
          {database}
        </Link>
      </p>
      <CollectionTabs collectionRef={collectionRef} />
    </>
  )
}

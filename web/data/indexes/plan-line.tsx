import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiFailure } from '../../api/client.ts'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { conditionsOf } from '../model/conditions.ts'
import { adviseFields, describePlan, type QueryPlan } from '../model/query-plan.ts'
import { parseSort } from '../model/sort.ts'
import { countQuery, useKnownCount } from '../queries.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import { IndexAdvice } from './index-advice.tsx'
import classes from './plan-line.module.css'

/** A scan of fewer documents is fast enough without an index. */
const SLOW_SCAN = 1_000

export interface PlanLineProps {
  readonly collectionRef: CollectionRef
  /** Undefined if the whole collection is listed by id, or the query failed. */
  readonly plan: QueryPlan | undefined
  /** Whether the rows of another order or page are shown until the query ends. */
  readonly loading: boolean
}

/** The number of documents that match, on demand, and what the query read. */
export function PlanLine({ collectionRef, plan, loading }: PlanLineProps) {
  const { search } = useDataLocation()
  const isSlow = plan !== undefined && plan.index === undefined && plan.scanned >= SLOW_SCAN
  return (
    <div className={classes.line} tabIndex={-1}>
      <Count collectionRef={collectionRef} />
      {loading && (
        <span role="status" className={classes.loading}>
          Loading the documents…
        </span>
      )}
      {plan !== undefined && <span>{describePlan(plan)}</span>}
      {isSlow && (
        <IndexAdvice
          collectionRef={collectionRef}
          fields={adviseFields(conditionsOf(search.filter), parseSort(search.sort))}
        />
      )}
    </div>
  )
}

function Count({ collectionRef }: { collectionRef: CollectionRef }) {
  const { search, count } = useDataLocation()
  const isWanted = search.count !== undefined
  const query = useQuery({ ...countQuery(collectionRef, search.filter), enabled: isWanted })
  const known = useKnownCount(collectionRef)
  if (!isWanted) {
    if (known !== undefined) return null
    return (
      <Button ref={keepFocus} variant="subtle" className={classes.count} onClick={count}>
        Count documents
      </Button>
    )
  }
  if (query.data !== undefined) {
    const one = query.data === 1
    const word = one ? 'document' : 'documents'
    const verb = search.filter === undefined ? '' : one ? ' matches' : ' match'
    return (
      <strong role="status">
        {formatCount(query.data)} {word}
        {verb}.
      </strong>
    )
  }
  if (query.error === null) return <span role="status">Counting…</span>
  return (
    <>
      <span role="alert" className={classes.error}>
        Not counted. {query.error.message}
      </span>
      <Advice collectionRef={collectionRef} error={query.error}>
        <Button ref={keepFocus} variant="default" onClick={() => query.refetch()}>
          Count again
        </Button>
      </Advice>
    </>
  )
}

/** Advises to create the index that the error of a query names; otherwise renders its children. */
export function Advice(props: {
  collectionRef: CollectionRef
  error: Error
  children?: ReactNode
}) {
  const { collectionRef, error, children } = props
  const fields = error instanceof ApiFailure ? error.fields : []
  if (fields.length === 0) return children
  return <IndexAdvice collectionRef={collectionRef} fields={fields} />
}

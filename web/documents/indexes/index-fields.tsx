import { Fragment } from 'react'
import { fieldLabel } from '../model/field-path.ts'
import { parseSort } from '../model/sort.ts'

/** The fields of an index in words, such as `author, year (descending)`. */
export function IndexFields({ fields }: { fields: readonly string[] }) {
  return parseSort(fields.join(',')).map(({ field, isDescending }, at) => (
    <Fragment key={field}>
      {at > 0 && ', '}
      <bdi className="mono">{fieldLabel(field)}</bdi>
      {isDescending && ' (descending)'}
    </Fragment>
  ))
}

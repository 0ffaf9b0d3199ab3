import { Fragment } from 'react'
import { fieldLabel } from '../model/field-path.ts'
import { parseSort } from '../model/sort.ts'

export interface IndexFieldsProps {
  readonly fields: readonly string[]
  /** Whether they are part of a sentence, in which "and" precedes the last one. */
  readonly isSentence?: boolean
}

/** The fields of an index in words, such as `author, year (descending)`. */
export function IndexFields({ fields, isSentence = false }: IndexFieldsProps) {
  return parseSort(fields.join(',')).map(({ field, isDescending }, at) => (
    <Fragment key={field}>
      {at > 0 && (isSentence && at === fields.length - 1 ? ' and ' : ', ')}
      <bdi className="mono">{fieldLabel(field)}</bdi>
      {isDescending && ' (descending)'}
    </Fragment>
  ))
}

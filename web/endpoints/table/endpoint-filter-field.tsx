import { NoMatch } from '../../ui/feedback/no-match.tsx'
import { FilterField, type FilterFieldProps } from '../../ui/form/filter-field.tsx'
import { formatNoMatch } from '../model/endpoint-filter.ts'

/** The filter field of the table and the map. */
export const EndpointFilterField = (
  props: Pick<FilterFieldProps, 'text' | 'onChange' | 'onFocus'>,
) => (
  <FilterField
    {...props}
    label="Filter endpoints"
    placeholder="Filter: 8530 state:failed db:shop"
    clear="Clear filters"
  />
)

/** Shown if no endpoint matches the filter, with the number of hidden rows. */
export function NoEndpoint(props: { text: string; hidden: number; onClear: () => void }) {
  return (
    <NoMatch clear="Clear filters" onClear={props.onClear}>
      {formatNoMatch(props.text, props.hidden)}
    </NoMatch>
  )
}

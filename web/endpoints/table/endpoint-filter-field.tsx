import { FilterField, type FilterFieldProps } from '../ui/filter-field.tsx'

/** The filter of the endpoints, of their table and of their map. */
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

import { FilterField, type FilterFieldProps } from '../../ui/form/filter-field.tsx'

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

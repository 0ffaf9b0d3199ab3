import { FilterField, type FilterFieldProps } from '../ui/filter-field.tsx'
import { sayCount } from '../ui/say-bytes.ts'
import classes from './databases-page.module.css'

/** Narrows the databases by name as one types. */
export function NameFilter({
  total,
  ...props
}: Pick<FilterFieldProps, 'text' | 'onChange'> & { readonly total: number }) {
  return (
    <div className={classes.filter}>
      <FilterField
        {...props}
        label="Filter databases"
        placeholder={`Filter ${sayCount(total)} databases by name`}
        clear="Clear filter"
      />
    </div>
  )
}

import { FilterField, type FilterFieldProps } from '../../shared/ui/form/filter-field.tsx'
import { formatCount } from '../../shared/ui/text/format-bytes.ts'
import classes from '../databases-page.module.css'

export function NameFilter({
  total,
  ...props
}: Pick<FilterFieldProps, 'text' | 'onChange'> & { readonly total: number }) {
  return (
    <div className={classes.filter}>
      <FilterField
        {...props}
        label="Filter databases"
        placeholder={`Filter ${formatCount(total)} databases by name`}
        clear="Clear filter"
      />
    </div>
  )
}

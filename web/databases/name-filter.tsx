import { FilterField } from '../ui/filter-field.tsx'
import { sayCount } from '../ui/say-bytes.ts'
import { useFilterText } from '../ui/use-filter-text.ts'
import classes from './databases-page.module.css'
import { useDatabasesLocation } from './use-databases-location.ts'

/** Narrows the databases by name as one types. */
export function NameFilter({ total }: { total: number }) {
  const { search, filter } = useDatabasesLocation()
  const [text, change] = useFilterText(search.q ?? '', filter)
  return (
    <div className={classes.filter}>
      <FilterField
        label="Filter databases"
        placeholder={`Filter ${sayCount(total)} databases by name`}
        clear="Clear filter"
        text={text}
        onChange={change}
      />
    </div>
  )
}

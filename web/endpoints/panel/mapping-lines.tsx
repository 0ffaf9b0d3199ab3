import { CreateMissing } from '../../shared/create-missing.tsx'
import { formatMapping, missingDatabases } from '../model/mapping.ts'
import classes from './mapping-lines.module.css'

/** Lists all databases of an endpoint in order, and describes the mapping in a sentence. */
export function MappingLines(props: {
  mapping: readonly string[]
  existing: readonly string[] | undefined
}) {
  const { mapping, existing } = props
  const missing = missingDatabases(mapping, existing)
  return (
    <>
      {mapping.length > 0 && (
        <ol className={classes.names} aria-label="Databases in order">
          {mapping.map((name, at) => (
            <li
              key={name}
              className={classes.name}
              data-missing={missing.includes(name) || undefined}
            >
              <span className="mono">{name}</span>
              {at === 0 && <span className="dim">default</span>}
              {missing.includes(name) && (
                <>
                  <span>does not exist</span>
                  <CreateMissing name={name} />
                </>
              )}
            </li>
          ))}
        </ol>
      )}
      <p className={classes.sentence}>{formatMapping(mapping, existing)}</p>
    </>
  )
}

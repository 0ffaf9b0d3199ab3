import classes from './import.module.css'

/** An error of a source or of its import. */
export interface ListedError {
  /** The position in words, such as "Line 12". */
  readonly where?: string | undefined
  /** The line of the source, if the position names one. Starts at 1. */
  readonly line?: number
  /** A JSON Pointer or an address. */
  readonly path?: string
  readonly message: string
}

/** Lists errors with their positions. `onGo` moves to a line of the source. */
export function ErrorList(props: {
  errors: readonly ListedError[]
  max: number
  onGo?: ((line: number) => void) | undefined
}) {
  const { errors, max, onGo } = props
  if (errors.length === 0) return null
  return (
    <ul aria-label="Errors" className={classes.errors}>
      {errors.slice(0, max).map(({ where, line, path, message }) => (
        <li key={`${where} ${path} ${message}`}>
          {where !== undefined &&
            (onGo === undefined || line === undefined ? (
              <span className={classes.position}>{where}</span>
            ) : (
              <button type="button" className="link-button" onClick={() => onGo(line)}>
                {where}
              </button>
            ))}
          {where !== undefined && path && ' '}
          {path && <span className={`mono ${classes.position}`}>{path}</span>}
          {(where !== undefined || path) && ': '}
          <bdi>{message}</bdi>
        </li>
      ))}
      {errors.length > max && <li>and {errors.length - max} more</li>}
    </ul>
  )
}

import { encodeTextArray } from '../../sql/parameters.ts'

/**
 * Returns a table of the rows of a batch, for the `from` of a statement. Its columns are texts, and
 * its parameters are arrays; see {@link inputValues}.
 *
 * PostgreSQL estimates ten elements per array, and that a limit of unknown value returns a tenth of
 * them. It therefore plans for one row and searches indexes. Without the limit, its cached plan
 * could join a whole index that was small when the statement was prepared.
 *
 * @param position adds the number of the row, from 1, as `at`.
 * @param setting set for the transaction.
 */
export function inputRows(
  columns: readonly string[],
  { position = false, setting }: { position?: boolean; setting?: readonly [string, string] } = {},
): string {
  const arrays = columns.map((_, at) => `$${at + 1}::text[]`)
  const names = position ? [...columns, 'at'] : columns
  const set = setting && `where (select set_config('${setting[0]}', '${setting[1]}', true)) <> ''`
  return `(
    select * from unnest(${arrays.join()}) ${position ? 'with ordinality' : ''} as each(${names.join()})
    ${set ?? ''} limit $${columns.length + 1}) as input`
}

/** Returns the parameters of {@link inputRows}. */
export function inputValues(columns: number, rows: readonly (readonly string[])[]): unknown[] {
  const arrays: unknown[] = []
  for (let at = 0; at < columns; at++) {
    arrays.push(encodeTextArray(rows.map((row) => row[at] as string)))
  }
  return [...arrays, rows.length]
}

let statements = 0

/** Returns a name for a prepared statement that no other statement of this process has. */
export const statementName = (name: string) => `${name}-${++statements}`

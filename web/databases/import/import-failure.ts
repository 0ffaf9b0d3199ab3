import type { FormErrors } from '@mantine/form'
import { ApiFailure } from '../../api/client.ts'
import { withNote } from '../../shared/import/import-failure.ts'
import { SourceError } from '../../shared/import/source-error.ts'

/** The error of a database that the endpoint of this page does not serve. */
export const NOT_SERVED =
  'The endpoint that you are connected through does not serve this database. Add the database to its mapping, or open the console through an endpoint that serves it.'

/** Returns the error of an import that does not say what happens to stored documents. */
export const notChosen = (database: string): string =>
  `${database} contains documents. Choose what happens to them.`

/** Returns why an import failed, and what it has stored, at the field that can correct it. */
export function importErrors(error: Error, database: string): FormErrors {
  if (error instanceof SourceError) return { file: error.message }
  if (!(error instanceof ApiFailure)) return { form: withNote(error) }
  if (error.field === 'on-conflict') {
    return { onConflict: notChosen(database) }
  }
  if (error.status === 404) {
    return {
      form: `There is no database ${database}, or the endpoint that you are connected through does not serve it. Another person may have dropped it.`,
    }
  }
  return { form: withNote(error) }
}

import * as z from 'zod/mini'
import { databaseNames } from '../../contract/database.ts'

/**
 * Parses a stored value whose form its column does not guarantee, such as one of several texts.
 *
 * @param column the table and the column, for the error.
 * @throws if the value is invalid, because another program has changed the store.
 */
export function parseColumn<T>(schema: z.ZodMiniType<T>, column: string, value: unknown): T {
  const parsed = z.safeParse(schema, value)
  if (parsed.success) return parsed.data
  throw new Error(`${column} has an invalid value in the store`, { cause: parsed.error })
}

/** Parses the JSON text of a column, as {@link parseColumn}. */
export const parseJsonColumn = <T>(schema: z.ZodMiniType<T>, column: string, text: string): T =>
  parseColumn(schema, column, JSON.parse(text))

/** Parses the databases of a person or a token. */
export const parseScope = (column: string, text: string | null): string[] | null =>
  text === null ? null : parseJsonColumn(databaseNames, column, text)

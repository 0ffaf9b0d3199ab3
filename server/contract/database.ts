import * as z from 'zod/mini'

/** The database that always exists, holds the administration, and cannot be dropped. */
export const SYSTEM_DATABASE = '_system'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** What {@link isDatabaseName} asks for, as a sentence for people. */
export const DATABASE_NAME_RULE =
  'A database name begins with a letter and has up to 64 letters, digits, “_” and “-”.'

/** Whether a name may name a database: {@link DATABASE_NAME_RULE}, or `_system`. Case counts. */
export const isDatabaseName = (name: string): boolean => name === SYSTEM_DATABASE || NAME.test(name)

/** Body of `POST /_api/database`. Keys that are not known are ignored. */
export const databaseInput = z.object({ name: z.string() })

/** Answer of `GET /_api/database`: every database, `_system` first, then by name. */
export const databaseList = z.array(z.object({ name: z.string() }))

/** {@link databaseList} as a type. */
export type DatabaseList = z.infer<typeof databaseList>

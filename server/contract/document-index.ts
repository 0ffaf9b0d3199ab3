import * as z from 'zod/mini'

/** Maximum number of indexes of a collection, of fields of an index, and length of a field. */
export const INDEXES = 16
export const INDEX_FIELDS = 8
const INDEX_FIELD_LENGTH = 256
/** Maximum number of documents with the same values that a unique index lists. */
export const INDEX_DUPLICATES = 100

/** Body of `PUT /_index/<collection>/<name>`. */
export const indexInput = z.strictObject({
  fields: z
    .array(z.string().check(z.maxLength(INDEX_FIELD_LENGTH)))
    .check(
      z.minLength(1, 'at least one field'),
      z.maxLength(INDEX_FIELDS),
      z.describe('fields in the form of the parameter sort, such as author.name or -year'),
    ),
  unique: z._default(z.boolean(), false),
})

/** An index of a collection. */
export const documentIndex = z.object({
  name: z.string(),
  fields: z.array(z.string()),
  unique: z.boolean(),
  state: z
    .enum(['building', 'ready', 'failed'])
    .check(z.describe('only a ready index serves queries')),
  progress: z
    .nullable(z.number())
    .check(z.describe('the share of the documents that a build has indexed, 0 to 1')),
  duplicates: z
    .array(z.string())
    .check(
      z.describe(
        `ids of documents with the same values in a unique index, at most ${INDEX_DUPLICATES}`,
      ),
    ),
  excluded: z
    .int()
    .check(
      z.describe('number of documents that have the same values as another one in a unique index'),
    ),
})

export type DocumentIndex = z.infer<typeof documentIndex>

/** Response of `GET /_index/<collection>`: the indexes by name. */
export const indexList = z.array(documentIndex)

import * as z from 'zod/mini'

/** One way in which a document does not fit the schema of its collection, or a schema is none. */
export const violation = z.object({
  /** Where, as a JSON Pointer (RFC 6901) into what was sent; of many documents with their index. */
  pointer: z.string(),
  message: z.string(),
})
/** See {@link violation}. */
export type Violation = z.infer<typeof violation>

/** The largest JSON Schema, bytes: 64 KiB. */
export const SCHEMA_BYTES = 64 * 1024

/** So many violations are told of at most; how many there are in all stands in the message. */
export const VIOLATIONS = 1000

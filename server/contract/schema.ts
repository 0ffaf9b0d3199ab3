import * as z from 'zod/mini'

/** A violation of a collection's schema by a document, or an error in a schema. */
export const violation = z.object({
  /**
   * A JSON Pointer (RFC 6901) into the body; for an array of documents it begins with the index.
   */
  pointer: z.string(),
  message: z.string(),
})
export type Violation = z.infer<typeof violation>

/** Maximum size of a JSON Schema, bytes: 64 KiB. */
export const SCHEMA_BYTES = 64 * 1024

/** Maximum length of a regular expression in a JSON Schema, characters. */
export const PATTERN_LENGTH = 10_000

/** Maximum number of violations in a response; its message has the total. */
export const VIOLATIONS = 1000

/** Maximum length of a pointer in a violation, in characters. Longer ones are truncated. */
export const POINTER_LENGTH = 1024

/** CPU time that compiling a schema may take, ms. */
export const COMPILE_TIME = 1_000

/** CPU time that checking a document, or a part of an array, may take, ms. */
export const CHECK_TIME = 250

/** How long a schema is rejected after it has taken too long, ms. */
export const SLOW_SCHEMA_PAUSE = 30_000

/** Maximum number of documents and array parts that wait for a check. */
export const WAITING_CHECKS = 1_000

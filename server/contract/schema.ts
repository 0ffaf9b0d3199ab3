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

/** A pointer in a violation is cut after this many characters. */
export const POINTER_LENGTH = 1024

/** Processor time that compiling a schema may take, ms. */
export const COMPILE_TIME = 1_000

/** Processor time that checking a document, or a part of an array, may take, ms. */
export const CHECK_TIME = 250

/** How long a schema is rejected after it has taken too long, ms. */
export const SLOW_SCHEMA_PAUSE = 30_000

/** The most documents and parts of arrays that wait to be checked. */
export const WAITING_CHECKS = 1_000

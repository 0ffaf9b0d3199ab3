import * as z from 'zod/mini'

/** Answer to a change that was carried out (seed 000, "Acknowledgement object"). */
export const acknowledgement = z.object({
  result: z.literal(true),
  error: z.literal(false),
  code: z.number(),
})

/** {@link acknowledgement} as a type. */
export type Acknowledgement = z.infer<typeof acknowledgement>

/** Answer to a request under `/_api` that failed (seed 000, "Error object"). */
export const errorObject = z.object({
  error: z.literal(true),
  code: z.number().check(z.describe('the HTTP status')),
  errorNum: z.number(),
  errorMessage: z.string(),
})

/** {@link errorObject} as a type. */
export type ErrorObject = z.infer<typeof errorObject>

/** Answer to any other request that failed (seed 002, "Error body"). */
export const errorBody = z.object({ id: z.string(), message: z.string() })

/** {@link errorBody} as a type. */
export type ErrorBody = z.infer<typeof errorBody>

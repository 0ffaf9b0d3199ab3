import * as z from 'zod/mini'

/** A list of names, separated by commas. */
export const nameList = z.pipe(
  z.string(),
  z.transform((text) => text.split(',').filter((name) => name !== '')),
)

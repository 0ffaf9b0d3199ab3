import * as z from 'zod/mini'

/** Parses a query parameter that is a whole number, as `/_api/openapi.json` describes it. */
export const wholeNumber = (least: number, greatest: number) => {
  const rule = `a whole number from ${least} to ${greatest}`
  return z
    .pipe(
      z.string().check(z.regex(/^[0-9]{1,16}$/, rule)),
      z.pipe(z.transform(Number), z.number().check(z.gte(least, rule), z.lte(greatest, rule))),
    )
    .check(z.meta({ type: 'integer', minimum: least, maximum: greatest, pattern: undefined }))
}

import * as z from 'zod/mini'
import { splitList } from '../config-access.ts'

/** A list of names, separated by commas. */
export const nameList = z.pipe(
  z.string(),
  z.transform((text: string) => splitList(text)),
)

import * as z from 'zod/mini'
import { isCollectionName } from '../../../server/contract/document.ts'

const NAME_RULE =
  'A collection name begins with a lowercase letter and has up to 64 lowercase letters, digits, “_” and “-”.'

/** The schema of the name of a collection as it is typed. */
export const collectionName = z
  .string()
  .check(z.refine((name) => isCollectionName(name.trim()), NAME_RULE))

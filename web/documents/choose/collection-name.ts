import * as z from 'zod/mini'
import { COLLECTION_NAME_RULE, isCollectionName } from '../../../server/contract/document.ts'

/** The schema of the name of a collection as it is typed. */
export const collectionName = z
  .string()
  .check(z.refine((name) => isCollectionName(name.trim()), COLLECTION_NAME_RULE))

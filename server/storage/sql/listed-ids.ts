import { type RawBuilder, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/** Returns a comparison, to write after a column, with the ids in a parameter: a JSON array. */
export const listedIds = (engine: EngineName): RawBuilder<unknown> =>
  engine === 'sqlite'
    ? sql`in (select value from json_each(${''}))`
    : sql`= any(array(select json_array_elements_text(cast(${''} as json))))`

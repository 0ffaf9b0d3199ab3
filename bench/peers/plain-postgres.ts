import { sql } from 'kysely'
import { openStore } from '../../server/storage/open.ts'
import { startPeer } from './start-peer.ts'

/** Copies the articles to a plain table, and starts a process that queries it. */
export async function startPlainPostgres(databaseUrl: string, host: string, port: number) {
  const store = await openStore({ databaseUrl }, 'tool')
  await sql`
    create table plain as
    select id, cast(body as json) ->> 'author' as author,
      cast(cast(body as json) ->> 'n' as bigint) as n, body
    from documents where collection = 'articles'`.execute(store.db)
  await sql`create index on plain (author, id)`.execute(store.db)
  await sql`create index on plain (n, id)`.execute(store.db)
  await store.close()
  return startPeer('plain-postgres-process.ts', host, String(port), databaseUrl)
}

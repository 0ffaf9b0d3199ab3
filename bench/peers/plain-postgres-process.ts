import { createServer } from 'node:http'
import pg from 'pg'

// Bare `node:http` and `pg` in a separate process: the queries of `queries.ts` on a plain table with
// suitable indexes. Arguments: host, port, URL of the database. Paths: `/equality?<author>` and
// `/range?<n>`.

const [host, port, connectionString] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 10 })

const QUERIES: Readonly<Record<string, string>> = {
  equality: 'select body from plain where author = $1 order by id limit 10',
  range: 'select body from plain where n >= $1 order by n, id limit 100',
}

createServer(async (request, response) => {
  const [name = '', value] = (request.url ?? '').slice(1).split('?')
  const { rows } = await pool.query<{ body: string }>({
    name,
    text: QUERIES[name] ?? '',
    values: [value],
  })
  const body = Buffer.from(`[${rows.map((row) => row.body).join()}]`)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }
  response.writeHead(200, headers).end(body)
}).listen(Number(port), host, () => process.stdout.write('ready\n'))

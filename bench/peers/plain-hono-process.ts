import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'

// Plain Hono and `pg` in a separate process: one select per request, on a table of its own.
// Arguments: host, port, URL of the database.

const [hostname, port, connectionString] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 10 })

const app = new Hono().get('/articles/:id', async (c) => {
  const { rows } = await pool.query<{ body: string }>({
    name: 'read',
    text: 'select body from plain_articles where id = $1',
    values: [c.req.param('id')],
  })
  const [found] = rows
  if (found === undefined) return c.notFound()
  return c.body(found.body, 200, { 'Content-Type': 'application/json' })
})

serve({ fetch: app.fetch, hostname, port: Number(port) }, () => process.stdout.write('ready\n'))

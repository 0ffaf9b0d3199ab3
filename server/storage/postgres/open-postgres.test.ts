import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, expect, inject, test, vi } from 'vitest'
import { connectPostgres } from '../backup/connect-postgres.ts'
import { nextRevision } from '../changes/begin-change.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'
import { forEngine, makeDatabase } from '../test-support/each-engine.testing.ts'
import { startPooler } from '../test-support/pooler.testing.ts'

test('reports why a server is unreachable, without the password', async () => {
  const databaseUrl = 'postgres://ada:s3cret@127.0.0.1:1/gatehouse'
  const refused = await openStore({ databaseUrl }, 'tool').catch((error) => error)
  expect(refused).toMatchObject({
    code: 'unavailable',
    message:
      'PostgreSQL at 127.0.0.1:1/gatehouse cannot be used: connect ECONNREFUSED 127.0.0.1:1.',
  })
  expect(inspect(refused)).not.toContain('s3cret')
})

test('reports a missing database', async () => {
  const url = new URL(inject('postgresUrl'))
  url.pathname = 'nowhere'
  await expect(openStore({ databaseUrl: url.href }, 'node')).rejects.toMatchObject({
    code: 'unavailable',
    message: `PostgreSQL at ${url.host}/nowhere cannot be used: database "nowhere" does not exist.`,
  })
})

test('rejects a database that cannot store every text', async () => {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') })
  await admin.connect()
  const url = new URL(inject('postgresUrl'))
  url.pathname = `latin1_${process.pid}`
  const name = url.pathname.slice(1)
  await admin.query(`
    create database ${name} encoding 'LATIN1' locale_provider libc locale 'C' template template0`)
  try {
    await expect(openStore({ databaseUrl: url.href }, 'node')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('has the encoding LATIN1'),
    })
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
})

test.each([
  ['may not create tables', ''],
  ['may not use the schema', 'revoke usage on schema public from public'],
])('a role that %s is told the GRANT, with which the start succeeds', async (_, restrict) => {
  const database = await makeDatabase({ empty: true })
  const role = `role-${randomUUID()}`
  const admin = new pg.Client({ connectionString: database.databaseUrl })
  await admin.connect()
  await admin.query(`create role "${role}" login; ${restrict}`)
  const url = new URL(database.databaseUrl)
  url.username = role
  const grant = `GRANT USAGE, CREATE ON SCHEMA public TO "${role}"`
  try {
    await expect(openStore({ databaseUrl: url.href }, 'node')).rejects.toMatchObject({
      code: 'unavailable',
      message: `PostgreSQL at ${url.host}${url.pathname} cannot be used: the role may not create tables. As the owner of the database, run: ${grant}.`,
    })
    await admin.query(grant)
    const opened = await openStore({ databaseUrl: url.href }, 'node')
    await opened.close()
    await admin.query(`drop owned by "${role}"; drop role "${role}"`)
  } finally {
    await admin.end()
    await database.remove()
  }
})

test('rejects an invalid URL without repeating it', async () => {
  const refused = await openStore({ databaseUrl: 's3cret' }, 'node').catch((error) => error)
  expect(refused).toMatchObject({
    code: 'unavailable',
    message: 'The database URL is invalid.',
  })
  expect(inspect(refused)).not.toContain('s3cret')
})

forEngine('postgres', (engine) => {
  let store: Store

  beforeEach(async () => {
    store = await engine.open()
  })

  test('disables sequential scans and the compilation of plans', async () => {
    const { rows } = await sql`
      select current_setting('enable_seqscan') as scans, current_setting('jit') as jit
    `.execute(store.db)
    expect(rows).toEqual([{ scans: 'off', jit: 'off' }])
  })

  test.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('commits durably: synchronous_commit %s of the database becomes %s', async (set, used) => {
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const name = new URL(databaseUrl).pathname.slice(1)
    await sql`
      alter database ${sql.ref(name)} set synchronous_commit = ${sql.lit(set)}
    `.execute(store.db)
    const other = await engine.open()
    const { rows } = await sql`show synchronous_commit`.execute(other.db)
    expect(rows).toEqual([{ synchronous_commit: used }])
    // A restore writes on a connection of its own.
    const { client, close } = await connectPostgres(databaseUrl)
    expect((await client.query('show synchronous_commit')).rows).toEqual(rows)
    close()
  })

  test('connects to a Unix socket', async () => {
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const { username, port, pathname } = new URL(databaseUrl)
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-socket-'))
    const proxy = createServer((client) => {
      const upstream = connect(Number(port), '127.0.0.1')
      client.pipe(upstream).pipe(client)
    })
    proxy.listen(join(folder, '.s.PGSQL.5432'))
    await once(proxy, 'listening')
    for (const url of [
      `postgres://${username}@${pathname}?host=${folder}`,
      `postgres://${username}@${encodeURIComponent(folder)}${pathname}`,
    ]) {
      const local = await openStore({ databaseUrl: url }, 'tool')
      expect((await sql`select inet_client_addr()`.execute(local.db)).rows).toHaveLength(1)
      await local.close()
    }
    proxy.close()
    await once(proxy, 'close')
    rmSync(folder, { recursive: true })
    const absent = `postgres://${username}@${pathname}?host=${folder}`
    await expect(openStore({ databaseUrl: absent }, 'tool')).rejects.toThrow(
      `PostgreSQL at ${folder}:5432${pathname} cannot be used`,
    )
  })

  test('connects through a pooler that rejects settings as parameters of the connection', async () => {
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const url = new URL(databaseUrl)
    const pooler = await startPooler(Number(url.port))
    try {
      url.port = String(pooler.port)
      const pooled = await openStore({ databaseUrl: url.href }, 'node')
      expect(await pooled.change(nextRevision)).toBe(1)
      await pooled.close()
    } finally {
      await pooler.close()
    }
  })

  test('a statement reads what was committed before it, although the database has another default', async () => {
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const name = new URL(databaseUrl).pathname.slice(1)
    await sql`
      alter database ${sql.ref(name)} set default_transaction_isolation = 'serializable'
    `.execute(store.db)
    const other = await engine.open()
    const { rows } = await sql`show transaction_isolation`.execute(other.db)
    expect(rows).toEqual([{ transaction_isolation: 'read committed' }])
  })

  test('fails with unavailable when the connection breaks, and connects again', async () => {
    const cut = store.change(async (trx) => {
      await nextRevision(trx)
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)
    })
    await expect(cut).rejects.toMatchObject({ code: 'unavailable', kind: { status: 503 } })
    expect(await store.change(nextRevision)).toBe(1)
  })

  test('reports a full disk of the server, and continues', async () => {
    const full = sql.raw("do $$ begin raise exception 'full' using errcode = '53100'; end $$")
    await expect(full.execute(store.db)).rejects.toMatchObject({
      code: 'insufficient-storage',
      kind: { status: 507 },
    })
    expect(await store.change(nextRevision)).toBe(1)
  })

  test('notifies all nodes of a role change, and not of a sign-in', async () => {
    let notifications = 0
    store.onNotification((topic) => {
      if (topic === 'access') notifications++
    })
    const other = await engine.open()
    const change = (set: string) => sql`update people set ${sql.raw(set)}`.execute(other.db)
    const who = { id: 'a', provider: 'github', issuer: 'https://github.example', subject: '1' }
    const person = { ...who, username: 'github:1', name: 'Ada', role: 'admin', created_at: 1 }
    await other.db.insertInto('people').values(person).execute()
    await change("name = 'Ada Lovelace', role = 'admin'")
    // Notifications arrive in order, so a notification of the first change would arrive before the second.
    await change("role = 'viewer'")
    await expect.poll(() => notifications).toBeGreaterThan(0)
    expect(notifications).toBe(1)
  })

  test('survives the end of its idle connections', async () => {
    await Promise.all([1, 2, 3].map(() => store.change(nextRevision)))
    const others = new pg.Client({ connectionString: inject('postgresUrl') })
    await others.connect()
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const name = new URL(databaseUrl).pathname.slice(1)
    await others.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    )
    await others.end()
    // The first query may use a connection whose end has not been detected yet.
    await expect.poll(() => store.change(nextRevision)).toBe(4)
  })

  test('loses a lock with its connection, and reports that', async () => {
    const other = await engine.open()
    expect([await store.acquireLock('a name'), await other.acquireLock('a name')]).toEqual([
      true,
      false,
    ])
    await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (
        select oid from pg_database where datname = current_database())`.execute(other.db)
    await expect.poll(() => other.acquireLock('a name')).toBe(true)
    await expect.poll(() => store.acquireLock('a name')).toBe(false)
    await other.close()
    await expect.poll(() => store.acquireLock('a name')).toBe(true)
  })

  test('reads the revision while earlier reads are unanswered, without a warning of the driver', async () => {
    const warn = vi.spyOn(process, 'emitWarning')
    const reads = Array.from({ length: 4 }, () => store.readRevision?.())
    expect(await Promise.all(reads)).toEqual([0, 0, 0, 0])
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })

  test('does not reuse a connection on which a query ran out of time', async () => {
    const pid = async () =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(store.db)).rows[0]?.pid
    const before = await pid()
    expect(await pid()).toBe(before)
    const slow = store.transaction(async (trx) => {
      await sql`set local statement_timeout = 10`.execute(trx)
      await sql`select pg_sleep(60)`.execute(trx)
    })
    await expect(slow).rejects.toMatchObject({ code: 'unavailable' })
    expect(await pid()).not.toBe(before)
  })

  test('reuses a connection whose statement conflicted with another transaction', async () => {
    const backend = async (lock: boolean) => {
      let pid: number | undefined
      const locking = store.transaction(async (trx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
        pid = rows[0]?.pid
        await sql`set local lock_timeout = '1ms'`.execute(trx)
        if (lock) await sql`select 1 from counters for update`.execute(trx)
      })
      const error = await locking.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      return { pid, error }
    }
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const other = new pg.Client({ connectionString: databaseUrl })
    await other.connect()
    await other.query('begin; select 1 from counters for update')
    const { pid, error } = await backend(true)
    expect(error).toMatchObject({ code: 'unavailable', cause: { code: '55P03' } })
    expect(await backend(false)).toEqual({ pid, error: undefined })
    await other.end()
  })

  test('a node that is suspended during a change blocks others only for the session timeout', async () => {
    // This client has no `idle_in_transaction_session_timeout`. The trigger on the counter sets it.
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const stopped = new pg.Client({ connectionString: databaseUrl })
    stopped.on('error', () => {})
    await stopped.connect()
    await stopped.query('begin')
    await stopped.query("update counters set value = value + 1 where name = 'revision'")
    const { rows } = await stopped.query('show idle_in_transaction_session_timeout')
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '5s' }])
    expect(await store.change(nextRevision)).toBe(1)
    await stopped.end()
  })

  test('sets timeouts on the server, which apply without the node', async () => {
    const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
    const { rows } = await sql<Record<string, string>>`select ${sql.join(
      limits.map((name) => sql`current_setting(${name}) as ${sql.ref(name)}`),
    )}`.execute(store.db)
    expect(rows).toEqual([
      { statement_timeout: '30s', lock_timeout: '10s', idle_in_transaction_session_timeout: '5s' },
    ])
  })
})

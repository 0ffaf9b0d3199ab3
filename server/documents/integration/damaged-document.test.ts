import { expect, test } from 'vitest'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { blog, openApp } from '../../test-support/app.testing.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
/** Longer than documents that are parsed whole. */
const LONG = 'x'.repeat(20_000)

forEachEngine((engine) => {
  test('documents whose stored text is not JSON are left out, counted and logged once', async () => {
    const { request, store, lines, close } = await openApp(engine.location())
    try {
      const send = (method: string, path: string, body?: unknown) =>
        request(path, { method, headers: JSON_TYPE, body: JSON.stringify(body) }, blog)
      const documents = ['a', 'b', 'c', 'd'].map((id) => ({ id, n: 1, text: LONG }))
      await send('POST', '/articles', documents)
      await send('PUT', '/_index/articles/by-n', { fields: ['n'] })
      const ready = async () => (await send('GET', '/_index/articles')).text()
      await expect.poll(ready).toContain('"ready"')
      const damage = (id: string, body: string) =>
        store.db.updateTable('documents').set({ body }).where('id', '=', id).execute()
      await damage('b', '{"id":"b","n":1,')
      await damage('c', `{"id":"c","n":1,"text":"${LONG}`)

      for (const query of [
        'm:exists=false',
        'm:exists=false&n=1',
        'm:exists=false&sort=-m',
        'm:exists=false&id:in=a,b,c,d',
        'fields=n',
        'n=1&fields=n',
        'n=1&sort=text',
        'export-as=csv',
        'export-as=csv&fields=n',
        'export-as=csv&m:exists=false',
        'export-as=csv&n=1&sort=text',
        'export-as=json&m:exists=false',
        'export-as=ndjson&fields=n&sort=text',
      ]) {
        const response = await request(`/articles?${query}`, {}, blog)
        const ids = [...(await response.text()).matchAll(/^"?([abcd])"?,|"id":"(.)"/gm)]
        const found = ids.map(([, cell, id]) => cell ?? id).sort()
        expect([query, response.status, found]).toEqual([query, 200, ['a', 'd']])
        // The other headers of an export are sent before all of its documents are read.
        expect([query, response.headers.get('Gatehouse-Skipped-Documents')]).toEqual([query, '2'])
      }
      const headers = { Prefer: 'count=exact' }
      const counted = await request('/articles?m:exists=false', { headers }, blog)
      expect(counted.headers.get('X-Total-Count')).toBe('2')
      const logged = lines.filter((line) => line.includes('is left out of queries'))
      expect(
        logged.filter((line) => line.includes('\\"b\\" of the collection articles')),
      ).toHaveLength(1)
      expect(logged).toHaveLength(2)

      expect((await send('PUT', '/_index/articles/by-m', { fields: ['m'] })).status).toBe(201)
      await expect.poll(ready).not.toContain('"building"')
      expect(await ready()).not.toContain('"failed"')
      const patched = await send('PATCH', '/articles?m:exists=false', { p: 1 })
      expect(await patched.json()).toEqual({ changed: 2 })
      const deleted = await send('DELETE', '/articles?m:exists=false')
      expect(await deleted.json()).toEqual({ deleted: 2 })
      expect(await (await send('GET', '/articles/b')).text()).toBe('{"id":"b","n":1,')
      for (const name of ['by-n', 'by-m']) await send('DELETE', `/_index/articles/${name}`)
      expect((await send('PUT', '/articles/b', { n: 2 })).status).toBe(200)
      expect((await send('DELETE', '/articles/c')).status).toBe(200)
    } finally {
      await close()
    }
  })
})

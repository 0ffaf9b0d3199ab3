import { afterEach, expect, it } from 'vitest'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { openApp } from '../../test-support/app.testing.ts'

forEachEngine((engine) => {
  let close = async () => {}
  afterEach(() => close())

  it.each([
    ['POST', '/c', '{"n":2}', {}],
    ['PUT', '/c/one', '{"n":2}', { 'If-None-Match': '*' }],
    ['PUT', '/c/new', '{"n":2}', {}],
    ['PATCH', '/c/new', '{"n":2}', {}],
    ['PATCH', '/c', '{"n":2}', {}],
    ['PATCH', '/c', '{"n":2}', { Prefer: 'respond-async' }],
    ['PUT', '/_schema/c', '{"required":["n"]}', {}],
    ['PUT', '/_index/c/by-n', '{"fields":["n"]}', {}],
  ])(
    '%s %s does not change a new database that replaces its own while the body %s arrives',
    async (method, path, text, headers) => {
      const opened = await openApp(engine.location())
      close = opened.close
      const send = async (to: string, init: Record<string, unknown>) => opened.request(to, init)
      const json = { 'Content-Type': 'application/json' }
      const create = () =>
        send('/_api/database', { method: 'POST', headers: json, body: '{"name":"x"}' })
      await create()
      const body = new ReadableStream(
        {
          async pull(controller) {
            await send('/_api/database/x', { method: 'DELETE' })
            await create()
            await send('/_db/x/c', { method: 'POST', headers: json, body: '{"id":"new"}' })
            controller.enqueue(new TextEncoder().encode(text))
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
      const init = { method, headers: { ...json, ...headers }, body, duplex: 'half' }
      expect((await send(`/_db/x${path}`, init)).status).toBe(404)
      expect(await (await send('/_db/x/c', {})).json()).toEqual([{ id: 'new' }])
      expect((await send('/_db/x/_schema/c', {})).status).toBe(404)
      expect(await (await send('/_db/x/_index/c', {})).json()).toEqual([])
    },
  )
})

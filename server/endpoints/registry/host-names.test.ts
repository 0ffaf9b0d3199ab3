import dns from 'node:dns/promises'
import { expect, test, vi } from 'vitest'
import { consoleUrls } from '../../http/static/console-urls.ts'
import { add, createEndpointFixture, DONE, listenerOf } from './endpoint-fixture.testing.ts'

const fixture = createEndpointFixture()

/** Makes every host name resolve to an IPv4 address. */
const resolveNamesTo = (address: string) =>
  vi.spyOn(dns, 'lookup').mockResolvedValue({ address, family: 4 } as never)

test('a listener at a host name reports the address that it is bound to', async () => {
  const node = await fixture.start()
  const name = `tcp://localhost:${fixture.port}`
  expect((await add(node, name)).json).toEqual(DONE)
  expect(await listenerOf(node, name)).toMatchObject({
    endpoint: name,
    bound: `tcp://127.0.0.1:${fixture.port}`,
  })
  expect(await listenerOf(node, node.address)).not.toHaveProperty('bound')
})

test('a host name that resolves to a wildcard is treated as the wildcard', async () => {
  resolveNamesTo('0.0.0.0')
  const name = `tcp://everywhere.test:${fixture.port}`
  const node = await fixture.start({ endpoints: [name] })
  expect(await listenerOf(node, name)).toMatchObject({ bound: `tcp://0.0.0.0:${fixture.port}` })
  expect(consoleUrls(node.node.adminAddresses, undefined)).toEqual({
    urls: [`http://127.0.0.1:${fixture.port}/_console/`],
    advice: expect.stringContaining(`http://<this machine>:${fixture.port}`),
  })
})

test('an endpoint is not blamed for a port that another program uses at another address', async () => {
  resolveNamesTo('127.0.0.2')
  const node = await fixture.start()
  expect((await add(node, `tcp://here.test:${fixture.port}`)).json).toEqual(DONE)
  await fixture.occupy({ port: fixture.port, host: '127.0.0.1' })
  expect((await add(node, fixture.address)).json).toMatchObject({
    code: 409,
    errorMessage: expect.stringContaining('another program'),
  })
})

test('localhost that is not a loopback address is rejected', async () => {
  resolveNamesTo('0.0.0.0')
  const node = await fixture.start()
  const { json } = await add(node, `tcp://a.localhost:${fixture.port}`)
  expect(json).toMatchObject({
    code: 400,
    errorMessage: expect.stringMatching(/^a\.localhost resolves/),
  })
})

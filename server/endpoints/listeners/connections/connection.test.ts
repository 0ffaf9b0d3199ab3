import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Connection } from './connection.ts'
import { CountedResponse, ResponseBudget } from './response-budget.ts'

test('queued responses close when the client disconnects', async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  const connection = new Connection(socket, new ResponseBudget())
  const responses = Array.from({ length: 3 }, () => {
    const response = new CountedResponse(new IncomingMessage(socket))
    connection.begin(response, false)
    return response
  })
  responses[0]?.assignSocket(socket)
  const closes = responses.map(() => 0)
  for (const [at, response] of responses.entries()) {
    response.on('close', () => {
      closes[at] = (closes[at] ?? 0) + 1
      connection.end(response, performance.now())
    })
  }
  client.destroy()
  await expect.poll(() => closes).toEqual([1, 1, 1])
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true, true])
})

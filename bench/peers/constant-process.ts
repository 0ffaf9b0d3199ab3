import { createServer } from 'node:http'

// Bare `node:http` in a separate process: responds to every request with the same JSON. Arguments:
// host, port, and response body.

const [host, port, text = ''] = process.argv.slice(2)
const body = Buffer.from(text)
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }

createServer((_request, response) => {
  response.writeHead(200, headers).end(body)
}).listen(Number(port), host, () => process.stdout.write('ready\n'))

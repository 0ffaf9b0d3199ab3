import { createServer } from 'node:http'

// Bare `node:http`, in a process of its own: to every request the same JSON, and nothing else.
// Arguments: host, port, and the answer's body.

const [host, port, text = ''] = process.argv.slice(2)
const body = Buffer.from(text)
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }

createServer((_request, response) => {
  response.writeHead(200, headers).end(body)
}).listen(Number(port), host, () => process.stdout.write('ready\n'))

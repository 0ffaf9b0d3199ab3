import { connect, createServer } from 'node:net'

/**
 * For tests: `node forward.testing.ts <path> <host> <port>` passes what comes to a socket on to a port,
 * of the network that it was started in. It says `ready`, and ends with its standard input.
 */
const [path = '', host = '', port = ''] = process.argv.slice(2)
const server = createServer((client) => {
  const target = connect(Number(port), host)
  client.pipe(target).pipe(client)
  client.on('error', () => target.destroy())
  target.on('error', () => client.destroy())
}).listen(path, () => process.stdout.write('ready\n'))
process.stdin.resume().on('end', () => {
  server.close()
  process.exit()
})

import { connect, createServer } from 'node:net'

/**
 * `node forward.testing.ts <path> <host> <port>` forwards connections from a Unix socket to a port
 * in the network namespace it runs in. It prints `ready` and exits when its standard input ends.
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

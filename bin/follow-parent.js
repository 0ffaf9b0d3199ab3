// Loaded into the server by bin/gatehouse.js. Stops the server when that process ends, even if it was
// killed.

process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The open channel must not keep the process alive.
process.channel?.unref()

// Loaded into the server by bin/gatehouse.js: when that process is gone, however it went, the
// server stops as if it had been asked to.

process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// Waiting for the parent to go is no reason to stay.
process.channel?.unref()

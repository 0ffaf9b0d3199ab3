const NEWLINE = 0x0a
const COMMA = 0x2c

/** Returns functions that turn the bytes of NDJSON into those of a JSON array. */
export function createArrayWriter() {
  // The end of a line is written once another line follows.
  let isPending = false
  let isFirst = true
  return {
    write(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
      const lines = chunk.reduce((count, byte) => (byte === NEWLINE ? count + 1 : count), 0)
      const out = new Uint8Array(chunk.length + lines + 4)
      let length = 0
      for (const byte of chunk) {
        if (byte === NEWLINE) {
          isPending = true
          continue
        }
        if (isFirst) {
          out[length++] = 0x5b
          out[length++] = NEWLINE
          isFirst = false
        } else if (isPending) {
          out[length++] = COMMA
          out[length++] = NEWLINE
        }
        isPending = false
        out[length++] = byte
      }
      return out.slice(0, length)
    },
    end: (): string => (isFirst ? '[]\n' : '\n]\n'),
  }
}

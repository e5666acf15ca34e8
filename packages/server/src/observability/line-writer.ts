/** What of `process.stderr` is needed. */
export interface LineOutput {
  write(text: string, done?: (error?: Error | null) => void): unknown
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
  readonly writableLength?: number
  readonly isTTY?: boolean
}

/** Writes lines for as long as somebody takes them. */
export interface LineWriter {
  write(line: string): void
  /** Lines that nobody got, so far. */
  readonly dropped: number
  /** Lets go of the output when everything is written, or nothing can be any more: `true`. Or `false`, after so many milliseconds. */
  end(milliseconds: number): Promise<boolean>
}

/** Bytes that wait for a reader who does not read. Measured on Node.js 20: a pipe that stalls holds 18 MB in memory after one second, without an end. */
const longestQueue = 1_048_576

/**
 * A writer that never fails, never blocks and never holds more than a megabyte: a log that nobody takes costs lines, not the service. An `error` of
 * a stream that nobody hears ends the process.
 *
 * @param notice makes the line that tells of lines that were dropped, for the next time that there is a reader.
 */
export function createLineWriter(output: LineOutput, notice: (count: number) => string): LineWriter {
  let dropped = 0
  let untold = 0
  let waiting = 0
  let whenWritten: (() => void) | undefined
  // A pipe whose reader is gone has none again; a disk that is full may get room.
  let gone = false
  const onError = (error: Error): void => {
    gone ||= (error as { code?: string }).code === 'EPIPE'
  }
  output.on?.('error', onError)

  const drop = (): void => {
    dropped += 1
    untold += 1
  }

  return {
    write(line) {
      if (gone || (output.writableLength ?? 0) > longestQueue) return drop()
      const told = untold
      untold = 0
      waiting += 1
      output.write(told === 0 ? `${line}\n` : `${notice(told)}\n${line}\n`, (error) => {
        waiting -= 1
        if (error) {
          // The notice went with the line: those that it told of are counted already, and untold again.
          untold += told
          drop()
        }
        if (waiting === 0) whenWritten?.()
      })
    },
    get dropped() {
      return dropped
    },
    async end(milliseconds) {
      if (waiting > 0 && !gone) {
        await new Promise<void>((resolve) => {
          const deadline = setTimeout(resolve, milliseconds)
          whenWritten = () => {
            clearTimeout(deadline)
            resolve()
          }
        })
      }
      const settled = waiting === 0 || gone
      // What is still on its way may still fail, and must find somebody who hears it.
      if (waiting === 0) output.off?.('error', onError)
      return settled
    },
  }
}

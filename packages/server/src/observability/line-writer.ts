import { setImmediate } from 'node:timers'

/** The part of `process.stderr` that the writer uses. */
export interface LineOutput {
  write(text: string, done?: (error?: Error | null) => void): unknown
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
  readonly writableLength?: number
  readonly isTTY?: boolean
}

/** Writes lines, and drops them while the output does not accept them. */
export interface LineWriter {
  /** Writes a line in this turn of the event loop: immediately if `urgent`, together with the lines before it. */
  write(line: string, urgent: boolean): void
  /** Writes all lines immediately. */
  flush(): void
  /** The number of lines dropped so far. */
  readonly dropped: number
  /** Waits until all lines are written or the reader has closed: `true`. Returns `false` after this many milliseconds. */
  end(milliseconds: number): Promise<boolean>
}

/** Maximum bytes that wait for a slow reader. Without a limit, a stalled pipe held 18 MB after one second (Node.js 20). */
const maxQueuedBytes = 1_048_576

/**
 * Maximum characters of lines that are written together: the size up to which a write to a pipe is atomic on Linux
 * (PIPE_BUF). A longer write could end inside a line when other processes write to the same pipe.
 */
const maxBatchLength = 4096

/** Listens for errors of the output. A closed pipe stays closed, but a full disk can get free space. */
function watchPipe(output: LineOutput) {
  let closed = false
  const onError = (error: Error): void => {
    closed ||= (error as { code?: string }).code === 'EPIPE'
  }
  output.on?.('error', onError)
  return {
    isClosed: (): boolean => closed,
    unwatch: (): void => void output.off?.('error', onError),
  }
}

/**
 * Creates a writer that never throws, never blocks and buffers at most a megabyte: a slow or closed reader costs log
 * lines, not the service. It listens for `error`, because an unhandled one ends the process.
 *
 * Lines of one turn of the event loop are written together, because each write to a pipe is a system call that wakes
 * the reader.
 *
 * @param notice returns a line that reports dropped lines. It is written when the output accepts lines again.
 */
export function createLineWriter(output: LineOutput, notice: (count: number) => string): LineWriter {
  let dropped = 0
  let unreported = 0
  let waiting = 0
  let whenWritten: (() => void) | undefined
  let batch = ''
  let batchLines = 0
  let isScheduled = false
  const pipe = watchPipe(output)

  const drop = (lines: number): void => {
    dropped += lines
    unreported += lines
  }

  function flush(): void {
    if (batchLines === 0) return
    const [text, lines] = [batch, batchLines]
    batch = ''
    batchLines = 0
    if (pipe.isClosed() || (output.writableLength ?? 0) > maxQueuedBytes) {
      drop(lines)
      return
    }
    const reported = unreported
    unreported = 0
    waiting += 1
    output.write(reported === 0 ? text : `${notice(reported)}\n${text}`, (error) => {
      waiting -= 1
      if (error) {
        // The notice was lost with the lines. Its dropped lines are already counted, but must be reported again.
        unreported += reported
        drop(lines)
      }
      if (waiting === 0) whenWritten?.()
    })
  }

  const flushTurn = (): void => {
    isScheduled = false
    flush()
  }

  return {
    write(line, urgent) {
      if (batch.length + line.length >= maxBatchLength) flush()
      batch += `${line}\n`
      batchLines += 1
      if (urgent) flush()
      else if (!isScheduled) {
        isScheduled = true
        setImmediate(flushTurn)
      }
    },
    flush,
    get dropped() {
      return dropped
    },
    async end(milliseconds) {
      flush()
      if (waiting > 0 && !pipe.isClosed()) {
        await new Promise<void>((resolve) => {
          const deadline = setTimeout(resolve, milliseconds)
          whenWritten = () => {
            clearTimeout(deadline)
            resolve()
          }
        })
      }
      const settled = waiting === 0 || pipe.isClosed()
      // Pending writes can still fail, so the listener stays.
      if (waiting === 0) pipe.unwatch()
      return settled
    },
  }
}

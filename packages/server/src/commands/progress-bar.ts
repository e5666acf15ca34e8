const width = 30

/** Shows the progress of a long command, on a terminal only: a log file would get thousands of lines. */
export interface ProgressBar {
  show(step: string, done: number): void
  /** Removes the bar. */
  end(): void
}

/** @param total an estimate; the bar stops at 100 percent if there is more */
export function progressBar(stream: NodeJS.WriteStream, total: number): ProgressBar {
  if (!stream.isTTY) return { show() {}, end() {} }
  let shown = ''
  return {
    show(step, done) {
      const share = total === 0 ? 1 : Math.min(1, done / total)
      const filled = Math.round(share * width)
      const bar = '#'.repeat(filled).padEnd(width, '-')
      const text = `\r${step.padEnd(6)} [${bar}] ${Math.floor(share * 100)} %  ${done.toLocaleString('en-US')} items`
      if (text === shown) return
      shown = text
      stream.write(text)
    },
    end() {
      if (shown !== '') stream.write(`\r${' '.repeat(shown.length)}\r`)
    },
  }
}

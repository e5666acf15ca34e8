import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Reads the first line of standard input. On a terminal it prompts and does not echo. */
export function readSecretly(prompt: string): Promise<string> {
  const terminal = process.stdin.isTTY === true
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  if (terminal) process.stderr.write(prompt)
  const lines = createInterface({ input: process.stdin, output: silent, terminal })
  return new Promise((resolve) => {
    let line = ''
    lines.once('line', (first) => {
      line = first
      lines.close()
    })
    lines.once('close', () => {
      if (terminal) process.stderr.write('\n')
      resolve(line)
    })
  })
}

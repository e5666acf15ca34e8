import { fstatSync, writeSync } from 'node:fs'
import type { LineOutput } from './line-writer.ts'

/**
 * Returns an output that writes to the file behind a stream; `undefined` if the stream is a pipe, a terminal or another
 * device.
 *
 * The stream of Node.js for a file writes synchronously, too, but first copies each text to a new buffer.
 */
export function fileOutput({ fd: descriptor }: { readonly fd?: number }): LineOutput | undefined {
  if (descriptor === undefined || !fstatSync(descriptor).isFile()) return undefined
  return {
    write(text, done) {
      let failure: Error | null = null
      try {
        writeSync(descriptor, text)
      } catch (error) {
        failure = error as Error
      }
      done?.(failure)
    },
  }
}

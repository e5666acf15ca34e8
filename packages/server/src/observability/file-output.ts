import { fstatSync, writeSync } from 'node:fs'
import type { LineOutput } from './line-writer.ts'

/**
 * Returns an output that writes to the file behind a stream; `undefined` if the stream is a pipe, a terminal or another
 * device.
 *
 * The stream of Node.js for a file writes synchronously, too, but first copies each text to a new buffer, and does not
 * report a text of which only the start was written.
 */
export function fileOutput({ fd: descriptor }: { readonly fd?: number }): LineOutput | undefined {
  if (descriptor === undefined || !fstatSync(descriptor).isFile()) return undefined
  let isLineTorn = false
  return {
    write(text, done) {
      let failure: Error | null = null
      try {
        const whole = isLineTorn ? `\n${text}` : text
        const written = writeSync(descriptor, whole)
        // A disk that becomes full takes only the start.
        isLineTorn = written < Buffer.byteLength(whole)
        if (isLineTorn) failure = new Error('Only a part of the text was written')
      } catch (error) {
        failure = error as Error
      }
      done?.(failure)
    },
  }
}

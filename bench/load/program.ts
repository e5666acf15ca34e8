// The generator, a process of its own: a slice of load for each line on its input, figures on its output.
import { createInterface } from 'node:readline'
import { runSlice } from './run-slice.ts'

for await (const line of createInterface({ input: process.stdin })) {
  let answer: unknown
  try {
    answer = { figures: await runSlice(JSON.parse(line)) }
  } catch (error) {
    answer = { error: String(error) }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

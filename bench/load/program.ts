// The load generator process: reads one slice per line from its input and prints the figures.
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

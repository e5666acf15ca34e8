// The load generator process: reads one slice per line from its input and prints the figures.
import { createInterface } from 'node:readline'
import { runSlice } from './run-slice.ts'

for await (const line of createInterface({ input: process.stdin })) {
  let response: unknown
  try {
    response = { figures: await runSlice(JSON.parse(line)) }
  } catch (error) {
    response = { error: String(error) }
  }
  process.stdout.write(`${JSON.stringify(response)}\n`)
}

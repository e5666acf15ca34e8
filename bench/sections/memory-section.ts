import { formatInteger } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { runInProgram } from '../run/run-in-program.ts'
import type { Workbench } from './workbench.ts'

export interface MemoryFigures {
  readonly tokens: number
  /** Length of the keys and values that the driver received. */
  readonly text: number
  /** Heap and external memory. */
  readonly bytes: number
}

/** Measures the memory of a live reference token. */
export async function* memorySection({ bundles }: Workbench): AsyncGenerator<Section> {
  const { tokens, text, bytes } = await runInProgram<MemoryFigures>(await bundles.bundle('programs/memory.ts'), 0)
  yield {
    title: 'Memory of a live reference token, memory driver on Node',
    notes: [`${formatInteger(tokens)} tokens from client credentials; growth of the heap after garbage collection.`],
    rows: [
      ['', 'bytes'],
      ['total', formatInteger(bytes / tokens)],
      ['keys and JSON', formatInteger(text / tokens)],
      ['overhead (target: 500)', formatInteger((bytes - text) / tokens)],
    ],
  }
}
